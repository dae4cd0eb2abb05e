"""Histories of registrations and runs for Hypothesis, and a model that knows the graph that they lead to.

The nodes of the graph are references of versions and numbers of runs. An edge goes from what a run used to the run, and
from the run to what it generated.
"""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import pytest
from hypothesis import strategies as st

from graph.core.errors import BadUserInput
from graph.domains.data_files.errors import AlreadyGenerated, ProvenanceCycle
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.lineage import Direction, LineageLink, ProvenanceRelation
from graph.domains.data_files.provenance.reports import UsedFile
from tests.domains.data_files.in_store import FAR, FileStore, checksum, references, run_id, version_of

FILES = ("a", "b", "c", "d", "e@2", "é")
RUNS = 8


class Registered(NamedTuple):
    """The next revision of a file."""

    name: str


class Reported(NamedTuple):
    """A report of a run."""

    number: int
    used: Sequence[tuple[str, int | None]]  # how many revisions before the latest one; None for a name alone
    makes: Sequence[tuple[str, bool]]  # whether the content is new


Step = Registered | Reported
Node = str | int

_names = st.sampled_from(FILES)
_registered = st.builds(Registered, _names)


def _reports(least_used: int, is_new: st.SearchStrategy[bool]) -> st.SearchStrategy[Reported]:
    used = st.tuples(_names, st.sampled_from([None, 0, 0, 1, 2]))
    makes = st.tuples(_names, is_new)
    return st.builds(
        Reported,
        st.integers(0, RUNS - 1),
        st.lists(used, min_size=least_used, max_size=3),
        st.lists(makes, min_size=least_used, max_size=2, unique_by=lambda made: made[0]),
    )


_new, _any = _reports(1, st.just(True)), _reports(0, st.booleans())
histories = st.lists(st.one_of(_new, _new, _any, _any, _registered), max_size=16)


class Model:
    """The files and runs that a history leads to."""

    def __init__(self) -> None:
        self.graph: set[tuple[Node, Node]] = set()
        self.latest: dict[str, int] = {}
        self.contents: dict[str, int] = {}  # of the latest revisions
        self._contents = 0

    @property
    def versions(self) -> list[str]:
        """All versions, in order of their references."""
        return sorted(f"{name}@{number + 1}" for name, last in self.latest.items() for number in range(last))

    async def follow(self, ours: FileStore, history: Iterable[Step]) -> None:
        """Let a history happen in the store, and check what it answers to each step."""
        for name in FILES:
            await self.register(ours, name)
        for step in history:
            if isinstance(step, Registered):
                await self.register(ours, step.name)
            else:
                await self.report(ours, step)

    async def register(self, ours: FileStore, name: str) -> None:
        """Register the next revision of a file."""
        await ours.register(self._new_revision(name))

    async def report(self, ours: FileStore, step: Reported) -> None:
        """Report of a run, which is recorded, or refused without a trace."""
        number = step.number
        used = {name: None if back is None else max(self.latest[name] - back, 1) for name, back in step.used}
        made_before = {each.rpartition("@")[0]: each for each in self.made_by(number)}
        used_before = {each.rpartition("@")[0] for each in self.used_by(number)}
        makes = [(name, is_new) for name, is_new in step.makes if name not in made_before]
        bound = [
            f"{name}@{revision or self._latest_for(name, made_before)}"
            for name, revision in used.items()
            if revision is not None or name not in used_before
        ]
        latest, contents = dict(self.latest), dict(self.contents)
        files = [
            self._new_revision(name) if is_new else NewFile(name=name, checksum=checksum(self.contents[name]))
            for name, is_new in makes
        ]
        made = [f"{name}@{self.latest[name]}" for name, _ in makes]

        graph = {*self.graph, *((each, number) for each in bound), *((number, each) for each in made)}
        error: type[BadUserInput] | None = None
        if any(maker != number for each in made for maker in self._before(each)):
            error = AlreadyGenerated
        elif _has_cycle(graph):
            error = ProvenanceCycle
        asked = [UsedFile(name, revision) for name, revision in used.items()]
        if error is None:
            run = await ours.run(number, used=asked, makes=files)
            self.graph = graph
            assert sorted(references(run.used)) == sorted(self.used_by(number))
            assert sorted(references(run.generated)) == sorted(self.made_by(number))
            return
        self.latest, self.contents = latest, contents
        stored = await ours.everything()
        with pytest.raises(error):
            await ours.run(number, used=asked, makes=files)
        assert await ours.everything() == stored

    def _new_revision(self, name: str) -> NewFile:
        self._contents += 1
        self.contents[name] = self._contents
        self.latest[name] = self.latest.get(name, 0) + 1
        return NewFile(name=name, checksum=checksum(self._contents))

    def _latest_for(self, name: str, made_before: Mapping[str, str]) -> int:
        """The revision that a name alone means to a run: of what it has generated, the one before."""
        if name not in made_before:
            return self.latest[name]
        return max(version_of(made_before[name]).revision - 1, 1)

    def _before(self, node: Node) -> list[Node]:
        return [one for one, other in self.graph if other == node]

    def used_by(self, number: int) -> list[str]:
        """What a run used."""
        return [str(each) for each in self._before(number)]

    def made_by(self, number: int) -> list[str]:
        """What a run generated."""
        return [str(other) for one, other in self.graph if one == number]

    def maker_of(self, reference: str) -> str | None:
        """The id of the run that generated a version."""
        makers = self._before(reference)
        assert len(makers) < 2
        return run_id(int(makers[0])) if makers else None

    def distances(self, reference: str, direction: Direction, depth: int) -> dict[str, int]:
        """The versions so many runs away, with their distances."""
        ways = [_reached(way, reference, 2 * depth) for way in self._ways(direction)]
        return {each: length // 2 for way in ways for each, length in way.items() if isinstance(each, str)}

    def edges(self, reference: str, direction: Direction, depth: int) -> set[LineageLink]:
        """The edges that lead so far."""
        found: set[LineageLink] = set()
        for way in self._ways(direction):
            reached = _reached(way, reference, 2 * depth - 1)
            found |= {self._edge(one, other) for one, other in way if one in reached}
        return found

    def _ways(self, direction: Direction) -> list[set[tuple[Node, Node]]]:
        downstream, upstream = self.graph, {(other, one) for one, other in self.graph}
        ways = {Direction.DOWNSTREAM: [downstream], Direction.UPSTREAM: [upstream]}
        return ways.get(direction, [downstream, upstream])

    def _edge(self, one: Node, other: Node) -> LineageLink:
        run, reference = (one, other) if isinstance(one, int) else (other, one)
        assert isinstance(run, int)
        assert isinstance(reference, str)
        relation = ProvenanceRelation.USED if (reference, run) in self.graph else ProvenanceRelation.GENERATED
        return LineageLink(relation, reference, run_id(run))

    def affected(self, starts: Iterable[str]) -> list[list[str]]:
        """All that was made from some versions, by the number of steps that it takes."""
        starts = set(starts)
        found = {each for start in starts for each in self.distances(start, Direction.DOWNSTREAM, FAR) if each != start}
        between = found | starts
        sources = {each: set(self.distances(each, Direction.UPSTREAM, 1)) & between - {each} for each in between}
        sorter = TopologicalSorter(sources)
        sorter.prepare()
        affected = []
        while sorter:
            stage = sorter.get_ready()
            sorter.done(*stage)
            affected.append(sorted(set(stage) & found))
        return [stage for stage in affected if stage]


def _has_cycle(graph: set[tuple[Node, Node]]) -> bool:
    sorter: TopologicalSorter[Node] = TopologicalSorter()
    for one, other in graph:
        sorter.add(other, one)
    try:
        sorter.prepare()
    except CycleError:
        return True
    return False


def _reached(graph: set[tuple[Node, Node]], start: Node, most: int) -> dict[Node, int]:
    """The nodes that at most so many steps lead to, with the least number of steps."""
    found = {start: 0}
    for step in range(1, most + 1):
        new = {other for one, other in graph if found.get(one) == step - 1} - found.keys()
        if not new:
            break
        found |= dict.fromkeys(new, step)
    return found
