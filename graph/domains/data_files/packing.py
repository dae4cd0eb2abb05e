"""Packs registrations into transactions."""

from collections.abc import Iterator, Sequence

from graph.domains.data_files.counts import Counts
from graph.domains.data_files.writes import MOST_BYTES, FileWrite
from graph.store.contract import Database
from graph.work.account import give_way


async def write_ahead(database: Database, writes: Sequence[FileWrite]) -> None:
    """Write the items of `ahead` now, for each registration that fits a transaction only without them."""
    limit = database.transaction_limit
    for write in writes:
        await give_way()
        if not write.fits(limit) and write.rest_fits(limit):
            write.mark_ahead()
            await database.put_many(write.ahead)
            write.ahead.clear()


def packed(writes: Sequence[FileWrite], limit: int) -> Iterator[list[FileWrite]]:
    """The registrations in order, in parts that fit a transaction. Each must fit one alone."""
    part: list[FileWrite] = []
    size, used, counts = 0, 0, Counts()
    for write in writes:
        own, byte_count = len(write.actions) + len(write.ahead), write.byte_count
        too_many = size + own + counts.touched_with(write.counts) > limit
        if part and (too_many or used + byte_count > MOST_BYTES):
            yield part
            part, size, used, counts = [], 0, 0, Counts()
        part.append(write)
        size += own
        used += byte_count
        counts.merge(write.counts)
    if part:
        yield part


def too_large(write: FileWrite, limit: int) -> str:
    """Why a registration fits no transaction."""
    return (
        f"It takes {write.size} writes of {write.byte_count} bytes at once, and the store takes {limit} "
        f"of {MOST_BYTES} bytes: register fewer days or items."
    )
