"""Refuses runs that would make a version out of itself.

A run closes a cycle only if a version that it generates was used before: what is new can have no descendants. Then all
that the run used is followed upstream. Two such runs could close a cycle together, so each takes the next number of
one counter, and the second one is checked again. All other runs make sure, by conditions, that no version that they
generate is used meanwhile, and that none that they use is generated meanwhile.

A run that has generated something, and tells later what else it used, takes a number too: another run that begins to
use what it generated may have followed it upstream already.

A run that claims its versions ahead cannot test them all when it is recorded. So it takes a number too, and reads, in
this order, the number, what it uses, and what it generates. If a path led from what it generates to what it uses, each
run on it was recorded before the next one marked that run's version as used, or has taken a later number. So what the
path begins with was marked when it was read. A run that takes over a claim takes a number with it.
"""

from collections.abc import Collection

from graph.domains.data_files.entities import LATE_RUNS
from graph.domains.data_files.provenance.edges import Edges
from graph.store.conditions import Absent, Compare
from graph.store.contract import Database, Update


async def first_ancestor(edges: Edges, of: Collection[str], among: Collection[str]) -> str | None:
    """The first of some versions that others were made from, or are; None if none is."""
    wanted, seen = frozenset(among), set(of)
    behind = list(seen)
    while behind:
        if found := sorted(wanted.intersection(behind)):
            return found[0]
        makers = await edges.makers(behind)
        used = await edges.used_by_runs(set(makers.values()))
        behind = list({each for references in used.values() for each in references} - seen)
        seen.update(behind)
    return None


async def late_runs(database: Database) -> int:
    """The number of runs so far that generated a version that was used before."""
    state = await database.get(LATE_RUNS.key_for())
    return int(state["number"]) if state else 0


def next_late_run(number: int) -> Update:
    """Takes the next number, unless another run has taken it."""
    condition = Compare("number", "=", number) if number else Absent("number")
    return Update(LATE_RUNS.key_for(), set={"number": number + 1}, condition=condition)
