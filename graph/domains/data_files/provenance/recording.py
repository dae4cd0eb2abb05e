"""Records runs: a whole run with all its edges, or nothing. An attempt that others came before is made again."""

from collections.abc import Mapping, Sequence, Sized
from uuid import UUID

from graph.core.clock import Clock
from graph.core.errors import BadUserInput
from graph.core.uuid7 import uuid7
from graph.domains.data_files.entities import FILE, FILE_REVISION
from graph.domains.data_files.errors import UnknownVersion
from graph.domains.data_files.model import LONGEST_NAME, Run
from graph.domains.data_files.provenance.applying import is_applied
from graph.domains.data_files.provenance.attempt import Expected, RunChanges, drafts_of
from graph.domains.data_files.provenance.edges import Edges
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.data_files.registering import Registration
from graph.domains.data_files.times import text_of_ms
from graph.store.client_input import find, possible_key
from graph.store.contract import Database
from graph.store.query import Needed
from graph.store.rounds import rounds
from graph.work.account import give_way

MOST_USED = 1000  # files of one report, as of those that it generates


class Runs:
    """The recorded runs."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._edges = Edges(database)
        self._registration = Registration(database, clock)

    async def by_id(self, run_ids: Sequence[str], attributes: Needed = None) -> Mapping[str, Run]:
        """The recorded ones of these runs."""
        return await find(self._database, Run, run_ids, attributes)

    async def record(self, report: RunReport, expected: Expected | None = None) -> Run:
        """Record a run, or a further report of one. To record the same report again is safe.

        Args:
            expected: what need not be read, unless it turns out to be otherwise.

        Raises:
            BadUserInput: The report breaks a rule. Nothing is recorded.
            UnknownVersion, AlreadyGenerated, ProvenanceCycle: Likewise.
        """
        run_id = uuid7(self._clock()) if report.run_id is None else _checked_id(report.run_id)
        check_number(report.used, report.generated)
        for file in report.used:
            _check_used(file)
            await give_way()
        drafts = await drafts_of(report.generated)
        others = rounds("other writers kept changing the same files or the same run")
        while True:
            next(others)
            attempt = await RunChanges.of(
                self._database, self._edges, report, run_id, drafts, at=text_of_ms(self._clock()), expected=expected
            )
            expected = None
            if attempt.missing:  # what nobody knows has no ancestors, so the report was checked for cycles without it
                registered = await self._registration.register(attempt.missing)
                if registered.rejections:
                    raise BadUserInput(registered.rejections[0].message)
                continue
            if attempt.changes_nothing or await is_applied(attempt):
                return Run(attempt.run)


def check_number(*files: Sized) -> None:
    """Raise BadUserInput if a run uses or generates too many files."""
    if max(map(len, files)) > MOST_USED:
        raise BadUserInput(f"A run uses or generates at most {MOST_USED:,} files in one report.")


def _checked_id(run_id: str) -> str:
    try:
        if run_id == str(UUID(run_id)):
            return run_id
    except ValueError:
        pass
    raise BadUserInput("`runId` must be a UUID, in lower case and with hyphens.")


def _check_used(file: UsedFile) -> None:
    if possible_key(FILE, file.name) is None:
        raise UnknownVersion(file.name[:LONGEST_NAME], None)
    if file.revision is not None and possible_key(FILE_REVISION, file.name, file.revision) is None:
        raise UnknownVersion(file.name, file.revision)
