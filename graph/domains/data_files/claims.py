"""Claims of runs on revisions, which are written before the run's item.

A run that generates more than a transaction takes claims its revisions first, some at a time. A claim counts once the
run's item lists the revision, so all of them count at once, or none does. One that does not count may be taken over by
another run, see `provenance.cycles`.
"""

from collections.abc import Iterable

from graph.domains.data_files.entities import FILE_REVISION, RUN
from graph.domains.data_files.references import Version
from graph.store.contract import Database
from graph.store.entity import Item
from graph.work.account import charge_rows

MAKER = "generated-by"
IS_CLAIM = "claimed-ahead"


def reading_claims(attributes: frozenset[str] | None) -> frozenset[str] | None:
    """The attributes of revisions to read, so that `settle` can tell which claims count; None for all."""
    if attributes is None or MAKER not in attributes:
        return attributes
    return attributes.union({IS_CLAIM}, FILE_REVISION.key_names)


async def settle(database: Database, revisions: Iterable[Item]) -> None:
    """Remove the maker from each revision whose claim does not count."""
    claimed = [item for item in revisions if IS_CLAIM in item and MAKER in item]
    if not claimed:
        return
    keys = {run_id: RUN.key_for(run_id) for run_id in {item[MAKER] for item in claimed}}
    await charge_rows(read=len(keys))
    runs = await database.get_many(keys.values(), attributes=frozenset({"generated"}))
    listed = {run_id: frozenset(runs[key]["generated"]) for run_id, key in keys.items() if key in runs}
    for item in claimed:
        if Version.of_item(item).reference not in listed.get(item[MAKER], ()):
            del item[MAKER]
