"""Checks the files that a report of a run tells of. A run is recorded whole, so one that breaks a rule refuses it."""

from collections.abc import Iterable

from graph.core.errors import BadUserInput
from graph.domains.data_files.checking import Draft, FileRefused, drafted
from graph.domains.data_files.entities import LONGEST_NAME
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.reports import UsedFile
from graph.domains.data_files.writes import FileWrite, write_of
from graph.work.account import give_way


async def drafts_of(files: Iterable[NewFile]) -> list[Draft]:
    """Check the files that a run generates; BadUserInput if one breaks a rule."""
    drafts = []
    for file in files:
        try:
            drafts.append(drafted(file))
        except FileRefused as refused:
            raise refusal(file.name, str(refused)) from refused
        await give_way()
    return drafts


def used_write(file: UsedFile, at: str) -> FileWrite:
    """The registration of a file that a run uses, perhaps before anything else is known of it."""
    try:
        new = file.new or NewFile(name=file.name, namespace=file.namespace)
        draft = drafted(new, is_known=file.new is not None)
        return write_of(draft, None, {}, at=at, is_used=True)
    except FileRefused as refused:
        raise refusal(file.name, str(refused)) from refused


def refusal(name: str, why: str) -> BadUserInput:
    """The error for a file that cannot be registered."""
    return BadUserInput(f"{name[:LONGEST_NAME]!r}: {why}")
