"""The plan of what to make again: all that was made from a version, in the order in which it can be made.

A stage has all files whose inputs are of stages before it: the length of the longest path from the version.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain

from graph.core.described import DescribedText, described, value
from graph.domains.data_files.provenance.edges import Edges, KnownRun, KnownRuns
from graph.domains.data_files.references import Version
from graph.work.account import give_way

FILES_AT_ONCE = 2000  # before giving way to other work

_READ = frozenset({"file-name", "revision", "product", "applicable-dates", "invalidated-at"})


class ReprocessingState(DescribedText):
    """Whether a file of a plan is still as it was made."""

    CURRENT = "CURRENT", "It is the latest revision of its file."
    REPLACED = "REPLACED", "A later revision of the file is registered."


@value
class PlannedFile:
    """A revision to make again."""

    file: Version = described("The revision.")
    state: ReprocessingState = described("Whether it is still as it was made.")


@value
class FileGroup:
    """The files of a product and day in a stage of a plan."""

    product: str | None = described("The product; null for files without one.")
    day: date | None = described("The first day that the files apply to; null without any.")
    files: Sequence[PlannedFile] = described("The files, by name.")


@value
class Stage:
    """Files that can be made again at the same time, once those of the stages before are."""

    number: int = described("The number of the stage, from 1.")
    groups: Sequence[FileGroup]


@dataclass(frozen=True, slots=True)
class ReprocessingPlan:
    """What to make again after a calibration has changed, in order."""

    of: Sequence[Version]
    stages: Sequence[Stage]

    @property
    def files(self) -> int:
        """The number of files."""
        return sum(len(group.files) for stage in self.stages for group in stage.groups)


async def plan_of(edges: Edges, versions: Sequence[Version]) -> ReprocessingPlan:
    """The plan for all that was made from some versions.

    Raises:
        QueryTooComplex: The operation in progress may not read so many files.
    """
    ranks = await _ranks(edges, [version.reference for version in versions])
    found = await edges.revisions(ranks, _READ)
    groups: dict[tuple[int, str, str], list[PlannedFile]] = defaultdict(list)
    for at, (reference, item) in enumerate(found.items()):
        days = item["applicable-dates"] or [""]
        planned = PlannedFile(
            Version.of_item(item),
            ReprocessingState.REPLACED if "invalidated-at" in item else ReprocessingState.CURRENT,
        )
        groups[ranks[reference], item.get("product", ""), days[0]].append(planned)
        if at % FILES_AT_ONCE == 0:
            await give_way()
    stages: dict[int, list[FileGroup]] = defaultdict(list)
    for (rank, product, day), files in sorted(groups.items()):
        files.sort(key=lambda each: each.file)
        stages[rank].append(FileGroup(product or None, date.fromisoformat(day) if day else None, files))
    return ReprocessingPlan(versions, [Stage(rank, of_rank) for rank, of_rank in stages.items()])


async def _ranks(edges: Edges, starts: Sequence[str]) -> dict[str, int]:
    """All that was made from some versions, each with the length of the longest path to it."""
    users = await _users_of_all(edges, starts)
    waits = Counter(chain.from_iterable(users.values()))  # runs, by the number of their inputs in the closure
    made = {each for run in waits for each in run.generated}
    ready, rank = [start for start in starts if start not in made], 0
    ranks: dict[str, int] = {}
    while ready:
        rank += 1
        runs = Counter(chain.from_iterable(users.get(each, ()) for each in ready))
        waits.subtract(runs)
        ready = [each for run in runs if not waits[run] for each in run.generated]
        ranks |= dict.fromkeys(ready, rank)
        await give_way()
    return ranks


async def _users_of_all(edges: Edges, starts: Sequence[str]) -> dict[str, list[KnownRun]]:
    """The runs that used some versions, or what was made from these, by the reference of what they used."""
    users: dict[str, list[KnownRun]] = {}
    known: KnownRuns = {}
    seen = behind = set(starts)
    while behind:
        found = (await edges.users(sorted(behind), known)).runs
        users |= found
        behind = {each for run in set(chain.from_iterable(found.values())) for each in run.generated} - seen
        seen = seen | behind
        await give_way()
    return users
