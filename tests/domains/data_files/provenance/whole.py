"""What is stored of runs agrees with itself: `await assert_whole(ours)` holds at any time, whatever has broken off."""

from collections import Counter, defaultdict

import networkx as nx

from graph.domains.data_files.claims import IS_CLAIM, MAKER
from graph.domains.data_files.counts import ITEMS, Kind
from graph.domains.data_files.entities import DAY, FILE, FILE_REVISION, PART, RUN, USED
from graph.domains.data_files.provenance.edges import Edges
from graph.domains.data_files.references import Version
from graph.store.entity import Entity, Item
from tests.domains.data_files.provenance.in_store import ProvenanceStore


async def items(ours: ProvenanceStore, entity: Entity) -> list[Item]:
    """All stored items of an entity."""
    return [item async for item in ours.database.scan(entity)]


async def graph_of(ours: ProvenanceStore) -> nx.DiGraph:
    """All that the recorded runs used and generated: versions → ids of runs → versions."""
    graph = nx.DiGraph()
    for run in await items(ours, RUN):
        graph.add_node(run["run-id"])
        graph.add_edges_from((used, run["run-id"]) for used in run["used"])
        graph.add_edges_from((run["run-id"], made) for made in run["generated"])
    return graph


async def assert_whole(ours: ProvenanceStore) -> None:
    """Check that each run has all its edges both ways, that nothing else has any, and that there is no cycle."""
    runs = {run["run-id"]: run for run in await items(ours, RUN)}
    revisions = {Version.of_item(item).reference: item for item in await items(ours, FILE_REVISION)}
    for run in runs.values():
        for listed in (run["used"], run["generated"], run["outputs"]):
            assert len(listed) == len(set(listed))
        assert {*run["used"], *run["generated"]} <= revisions.keys()

    made = {each: run_id for run_id, run in runs.items() for each in run["generated"]}
    assert made == await Edges(ours.database).makers(revisions)
    certain = {each: item for each, item in revisions.items() if MAKER in item and IS_CLAIM not in item}
    assert {each: item[MAKER] for each, item in certain.items()}.items() <= made.items()
    assert sum(len(run["generated"]) for run in runs.values()) == len(made)

    used: defaultdict[str, set[str]] = defaultdict(set)
    for run_id, run in runs.items():
        for each in run["used"]:
            used[each].add(run_id)
    known = {edge["used"] for edge in await items(ours, USED)} | revisions.keys()
    found = await Edges(ours.database).users(sorted(known), {})
    assert {each: {run.run_id for run in users} for each, users in found.runs.items()} == used
    assert all(len(users) == len(set(users)) for users in found.runs.values())
    assert all(revisions[each].get("is-used") for each in used)

    await assert_files_whole(ours, revisions)
    assert nx.is_directed_acyclic_graph(await graph_of(ours))


async def assert_files_whole(ours: ProvenanceStore, revisions: dict[str, Item]) -> None:
    """Check that each file is its latest revision, that it has all of them, and that the days are counted."""
    latest = {item["file-name"]: item["revision"] for item in await items(ours, FILE)}
    every = {Version(name, number + 1).reference for name, last in latest.items() for number in range(last)}
    assert revisions.keys() == every
    for each, item in revisions.items():
        assert ("invalidated-at" in item) == (item["revision"] < latest[item["file-name"]]), each

    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for part in await items(ours, PART):
        if day := part.get("applicable-date"):
            counted[day][ITEMS] += 1
            counted[day][Kind.of_item(part).name] += 1
    days = {
        item.pop("day"): Counter({name: value for name, value in item.items() if value})
        for item in await items(ours, DAY)
    }
    assert {day: numbers for day, numbers in days.items() if numbers} == counted
