"""Registers data files: a new file, or the next revision of one whose content has changed.

    files → check each by itself → read what is registered → transactions

A file, its revision, its further items and their counters are written in one transaction. It applies only if the file
still is what was read. So a crash or a race leaves no file half registered, and counts nothing twice. If a new file has
more items than a transaction takes, those that no index has are written ahead: they are not seen before the file is.
Their identifiers have a mark of the file's content, and the file names those that are its own. So what registrations of
other contents wrote at the same time is not seen, and the next revision removes it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from graph.core.clock import Clock
from graph.domains.data_files.checking import FileDraft, FileRefused, drafted
from graph.domains.data_files.model import (
    DataFileOutcome,
    DataFileRejection,
    RegisteredFile,
    RegistrationProblem,
    RegistrationReport,
)
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.stored import RegisteredFiles
from graph.domains.data_files.times import text_of_ms
from graph.domains.data_files.writes import FileWrite, packed, together, too_large, write_ahead
from graph.store.contract import Database
from graph.store.rounds import rounds
from graph.work.account import give_way

MOST_FILES = 1000  # of one call
REGISTERED, SKIPPED = DataFileOutcome


class Registration:
    """Registers data files."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def register(self, files: Sequence[NewFile]) -> RegistrationReport:
        """Register files, each by itself. To register the same files again is safe.

        Raises:
            DatabaseUnavailable: Some may be registered. Registering all of them again completes the work.
        """
        report = RegistrationReport()
        for drafts in _of_different_names(await _drafts(files, report)):
            await self._register(drafts, report)
        return report

    async def _register(self, drafts: Mapping[str, FileDraft], report: RegistrationReport) -> None:
        """Register files of different names."""
        pending = drafts
        others = rounds("other writers kept registering the same files")
        while pending:
            next(others)
            versions = [(draft.name, draft.dataset_version) for draft in pending.values() if draft.dataset_version]
            stored = await RegisteredFiles.of(self._database, pending, versions)
            at = text_of_ms(self._clock())
            writes = []
            for draft in pending.values():
                if write := await stored.registration(draft, at=at):
                    writes.append(write)
                await give_way()
            written = {write.version.name for write in writes}
            report.judged.extend(_judged(each, SKIPPED) for name, each in pending.items() if name not in written)
            await write_ahead(self._database, writes)
            refused: list[FileWrite] = []
            for some in packed(await self._fitting(writes, drafts, report), self._database.transaction_limit):
                if await self._database.transact(together(some)):
                    refused += some
                else:
                    report.judged.extend(_judged(drafts[write.version.name], REGISTERED) for write in some)
            pending = {write.version.name: drafts[write.version.name] for write in refused}

    async def _fitting(
        self, writes: Iterable[FileWrite], drafts: Mapping[str, FileDraft], report: RegistrationReport
    ) -> list[FileWrite]:
        """The registrations that fit a transaction. The others are rejected."""
        limit = self._database.transaction_limit
        fitting = []
        for write in writes:
            name = write.version.name
            await give_way()
            if write.fits(limit):
                fitting.append(write)
            else:
                message = too_large(write, limit)
                rejection = DataFileRejection(drafts[name].index, name, RegistrationProblem.TOO_MANY_ITEMS, message)
                report.rejections.append(rejection)
        return fitting


def _judged(draft: FileDraft, outcome: DataFileOutcome) -> RegisteredFile:
    return RegisteredFile(draft.name, draft.index, outcome)


async def _drafts(files: Sequence[NewFile], report: RegistrationReport) -> list[FileDraft]:
    """The checked files."""
    drafts = []
    for index, file in enumerate(files):
        try:
            drafts.append(drafted(file, index))
        except FileRefused as refused:
            report.rejections.append(DataFileRejection(index, file.name, refused.code, str(refused)))
        await give_way()
    return drafts


def _of_different_names(drafts: Iterable[FileDraft]) -> list[dict[str, FileDraft]]:
    """The files, so that those of the same name follow each other."""
    parts: list[dict[str, FileDraft]] = []
    seen: Counter[str] = Counter()
    for draft in drafts:
        if seen[draft.name] == len(parts):
            parts.append({})
        parts[seen[draft.name]][draft.name] = draft
        seen[draft.name] += 1
    return parts
