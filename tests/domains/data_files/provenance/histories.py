"""Histories of registrations and runs for Hypothesis, and a model that knows what they lead to: networkx has the graph.

The nodes of the graph are references of versions and numbers of runs. An edge goes from what a run used to the run, and
from the run to what it generated.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import networkx as nx
import pytest
from hypothesis import strategies as st

from graph.core.errors import BadUserInput
from graph.domains.data_files.errors import AlreadyGenerated, ProvenanceCycle
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.lineage import Direction, Edge, Relation
from graph.domains.data_files.provenance.reports import UsedFile
from tests.domains.data_files.provenance.in_store import ProvenanceStore, checksum, references, run_id, version_of

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
        self.graph: nx.DiGraph = nx.DiGraph()
        self.latest: dict[str, int] = {}
        self.contents: dict[str, int] = {}  # of the latest revisions
        self._contents = 0

    @property
    def versions(self) -> list[str]:
        """All versions, in order of their references."""
        return sorted(node for node in self.graph if isinstance(node, str))

    async def follow(self, ours: ProvenanceStore, history: Iterable[Step]) -> None:
        """Let a history happen in the store, and check what it answers to each step."""
        for name in FILES:
            await self.register(ours, name)
        for step in history:
            if isinstance(step, Registered):
                await self.register(ours, step.name)
            else:
                await self.report(ours, step)

    async def register(self, ours: ProvenanceStore, name: str) -> None:
        """Register the next revision of a file."""
        await ours.register(self._new_revision(name))

    async def report(self, ours: ProvenanceStore, step: Reported) -> None:
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
        latest, contents, before = dict(self.latest), dict(self.contents), self.graph.copy()
        files = [
            self._new_revision(name) if is_new else NewFile(name=name, checksum=checksum(self.contents[name]))
            for name, is_new in makes
        ]
        made = [f"{name}@{self.latest[name]}" for name, _ in makes]

        graph = self.graph.copy()
        graph.add_edges_from((each, number) for each in bound)
        graph.add_edges_from((number, each) for each in made)
        graph.add_node(number)
        error: type[BadUserInput] | None = None
        if any(set(self.graph.predecessors(each)) - {number} for each in made if each in self.graph):
            error = AlreadyGenerated
        elif not nx.is_directed_acyclic_graph(graph):
            error = ProvenanceCycle
        asked = [UsedFile(name, revision) for name, revision in used.items()]
        if error is None:
            run = await ours.run(number, used=asked, makes=files)
            self.graph = graph
            assert sorted(references(run.used)) == sorted(self.used_by(number))
            assert sorted(references(run.generated)) == sorted(self.made_by(number))
            return
        self.latest, self.contents, self.graph = latest, contents, before
        stored = await ours.everything()
        with pytest.raises(error):
            await ours.run(number, used=asked, makes=files)
        assert await ours.everything() == stored

    def _new_revision(self, name: str) -> NewFile:
        self._contents += 1
        self.contents[name] = self._contents
        self.latest[name] = self.latest.get(name, 0) + 1
        self.graph.add_node(f"{name}@{self.latest[name]}")
        return NewFile(name=name, checksum=checksum(self._contents))

    def _latest_for(self, name: str, made_before: Mapping[str, str]) -> int:
        """The revision that a name alone means to a run: of what it has generated, the one before."""
        if name not in made_before:
            return self.latest[name]
        return max(version_of(made_before[name]).revision - 1, 1)

    def used_by(self, number: int) -> list[str]:
        """What a run used."""
        return [str(each) for each in self.graph.predecessors(number)] if number in self.graph else []

    def made_by(self, number: int) -> list[str]:
        """What a run generated."""
        return [str(each) for each in self.graph.successors(number)] if number in self.graph else []

    def maker_of(self, reference: str) -> str | None:
        """The id of the run that generated a version."""
        makers = list(self.graph.predecessors(reference))
        assert len(makers) < 2
        return run_id(int(makers[0])) if makers else None

    def distances(self, reference: str, direction: Direction, depth: int) -> dict[str, int]:
        """The versions so many runs away, with their distances."""
        found: dict[str, int] = {}
        for graph in self._ways(direction):
            lengths = nx.single_source_shortest_path_length(graph, reference, cutoff=2 * depth)
            found |= {each: length // 2 for each, length in lengths.items() if isinstance(each, str)}
        return found

    def edges(self, reference: str, direction: Direction, depth: int) -> set[Edge]:
        """The edges that lead so far."""
        found: set[Edge] = set()
        for graph in self._ways(direction):
            lengths = nx.single_source_shortest_path_length(graph, reference, cutoff=2 * depth - 1)
            found |= {self._edge(*pair) for pair in graph.edges(lengths)}
        return found

    def _ways(self, direction: Direction) -> list[nx.DiGraph]:
        downstream, upstream = self.graph, self.graph.reverse(copy=False)
        return {
            Direction.DOWNSTREAM: [downstream],
            Direction.UPSTREAM: [upstream],
            Direction.BOTH: [downstream, upstream],
        }[direction]

    def _edge(self, one: str | int, other: str | int) -> Edge:
        run, reference = (one, other) if isinstance(one, int) else (other, one)
        assert isinstance(run, int)
        assert isinstance(reference, str)
        relation = Relation.USED if self.graph.has_edge(reference, run) else Relation.GENERATED
        return Edge(relation, reference, run_id(run))

    def affected(self, starts: Iterable[str]) -> list[list[str]]:
        """All that was made from some versions, by the number of steps that it takes."""
        starts = set(starts)
        versions: nx.DiGraph = nx.DiGraph()
        versions.add_nodes_from(self.versions)
        for run in [node for node in self.graph if isinstance(node, int)]:
            versions.add_edges_from((used, made) for used in self.used_by(run) for made in self.made_by(run))
        affected = set().union(*(nx.descendants(versions, start) for start in starts))
        generations = list(nx.topological_generations(versions.subgraph(affected | starts)))
        return [found for stage in generations if (found := sorted(set(stage) & affected))]
