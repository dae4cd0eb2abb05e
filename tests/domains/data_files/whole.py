"""What is stored agrees with itself: `await assert_whole(ours)` holds at any time, whatever has broken off."""

from collections import Counter, defaultdict
from collections.abc import Collection
from graphlib import TopologicalSorter

from graph.domains.data_files.claims import IS_CLAIM, MAKER
from graph.domains.data_files.counts import ITEMS, CountedKind
from graph.domains.data_files.entities import CALIBRATED, DAY, FILE, FILE_REVISION, PART, RUN, USED
from graph.domains.data_files.provenance.edges import Edges
from graph.domains.data_files.references import Version
from graph.domains.data_files.writes import INDEXED
from graph.store.entity import Item
from tests.domains.data_files.in_store import FileStore


async def assert_whole(ours: FileStore, *without_item: str) -> None:
    """Check the files, and that each run has all its edges both ways, that nothing else has any, and no cycle is.

    Args:
        without_item: names of files of other programs that only their further items tell of.
    """
    runs = {run["run-id"]: run for run in await ours.items(RUN)}
    revisions = {Version.of_item(item).reference: item for item in await ours.items(FILE_REVISION)}
    await _assert_files_whole(ours, revisions, without_item)
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
    known = {edge["used"] for edge in await ours.items(USED)} | revisions.keys()
    found = await Edges(ours.database).users(sorted(known), {})
    assert {each: {run.run_id for run in users} for each, users in found.runs.items()} == used
    assert all(len(users) == len(set(users)) for users in found.runs.values())
    assert all(revisions[each].get("is-used") for each in used)

    made_from = {each: runs[run_id]["used"] for each, run_id in made.items()}
    TopologicalSorter(made_from).prepare()  # an error if there is a cycle


async def _assert_files_whole(ours: FileStore, revisions: dict[str, Item], without_item: Collection[str]) -> None:
    """Check that each file is its latest revision, that it has all of them and its parts, and that all is counted."""
    files = {item["file-name"]: item for item in await ours.items(FILE)}
    every = {Version(name, number + 1).reference for name, item in files.items() for number in range(item["revision"])}
    assert revisions.keys() == every
    for each, item in revisions.items():
        assert ("invalidated-at" in item) == (item["revision"] < files[item["file-name"]]["revision"]), each
    parts = await ours.files.parts(files)
    of_runs = {MAKER, IS_CLAIM, "is-used"}
    for name, file in files.items():
        latest = revisions[Version.of_item(file).reference]
        assert _without(file, {"parts", *of_runs}) == _without(latest, of_runs)
        assert sorted(part["identifier"] for part in parts.get(name, [])) == sorted(file["parts"])

    stored = await ours.items(PART)
    assert {part["file-name"] for part in stored if INDEXED & part.keys()} <= {*files, *without_item}
    assert await counters(ours) == _counted(stored)


def _without(item: Item, names: set[str]) -> Item:
    return {name: value for name, value in item.items() if name not in names}


async def counters(ours: FileStore) -> dict[tuple[str, str], int]:
    """The counters that are not 0, of days and of calibrated products."""
    kept = [(DAY, "day"), (CALIBRATED, "identifier")]
    every = [(item.pop(name), item) for entity, name in kept for item in await ours.items(entity)]
    return {(key, name): number for key, item in every for name, number in item.items() if number}


def _counted(parts: list[Item]) -> Counter[tuple[str, str]]:
    """What the counters should be, from the items that they count."""
    counted: Counter[tuple[str, str]] = Counter()
    for part in parts:
        if on := part.get("applicable-date"):
            counted.update([(on, ITEMS), (on, CountedKind.of_item(part).name)])
        elif "calibration-order" in part:
            counted[part["identifier"], ITEMS] += 1
    return counted
