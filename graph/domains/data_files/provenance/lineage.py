"""Lineage: what a version of a file was made from, and what was made from it, so many runs away.

It costs what it reads: with `depth`, each step reads the versions of one distance together, and nothing behind
`most_nodes` of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graph.core.described import DescribedText, described, mutable
from graph.domains.data_files.model import FileRevision
from graph.domains.data_files.provenance.edges import Edges, KnownRuns
from graph.domains.data_files.references import Version

FURTHEST = 20  # runs
MOST_NODES = 1000
LEAST_EDGES = 100  # that are read at once, since a run may have generated nothing


class Direction(DescribedText):
    """Which way lineage goes."""

    UPSTREAM = "UPSTREAM", "To what a file was made from."
    DOWNSTREAM = "DOWNSTREAM", "To what was made from it."
    BOTH = "BOTH", "Both ways."


class ProvenanceRelation(DescribedText):
    """What a run has to do with a file, in the words of W3C PROV."""

    USED = "USED", "It used the file."
    GENERATED = "GENERATED", "It generated the file."


class LineageLink(NamedTuple):
    """A run used or generated a version."""

    relation: ProvenanceRelation
    reference: str
    run_id: str

    @property
    def version(self) -> Version | None:
        """The version."""
        return Version.of(self.reference)


@mutable
class LineageNode:
    """A revision that belongs to a lineage."""

    file: FileRevision = described("The revision.")
    distance: int = described("Runs between it and the file that was asked for; 0 for that itself.")
    is_upstream: bool


@dataclass(slots=True)
class Lineage:
    """What a revision was made from, or what was made from it."""

    nodes: list[LineageNode] = field(default_factory=list)  # by distance; of the same distance, by name and revision
    edges: list[LineageLink] = field(default_factory=list)
    omitted: int = 0  # versions that are known and left out; there may be more behind them
    frontier: list[str] = field(default_factory=list)  # versions whose own edges were not all followed
    lacks_runs: bool = False  # whether a version must have been made by a run that is unknown

    @property
    def is_truncated(self) -> bool:
        """Whether something was left out."""
        return bool(self.omitted or self.frontier)

    @property
    def is_complete(self) -> bool:
        """Whether nothing was left out, and nothing lacks."""
        return not self.is_truncated and not self.lacks_runs


class LineageStep(NamedTuple):
    """What lies one run behind some versions."""

    edges: list[LineageLink]
    reached: dict[str, list[str]]  # versions by those that they were reached from
    unfinished: list[str]  # versions with further edges, which were not read


async def lineage_of(reader: Edges, version: Version, direction: Direction, depth: int, most_nodes: int) -> Lineage:
    """The lineage of a registered version, which is among its nodes.

    Args:
        depth: runs to follow.
        most_nodes: versions beside itself, in each direction.
    """
    lineage = Lineage()
    distances: dict[str, tuple[int, bool]] = {version.reference: (0, False)}
    edges: dict[LineageLink, None] = {}
    for upstream in (True, False):
        if direction is not (Direction.DOWNSTREAM if upstream else Direction.UPSTREAM):
            found = await _follow(reader, lineage, edges, version.reference, depth, most_nodes, upstream=upstream)
            for reference, distance in found.items():
                distances.setdefault(reference, (distance, upstream))
    revisions = await reader.revisions(distances)
    nodes = [
        LineageNode(FileRevision(revisions[reference]), distance, is_upstream)
        for reference, (distance, is_upstream) in distances.items()
        if reference in revisions
    ]
    lineage.nodes = sorted(nodes, key=lambda node: (node.distance, node.file.version))
    lineage.edges = [*edges]
    goes_up = direction is not Direction.DOWNSTREAM
    lineage.lacks_runs = goes_up and any(
        node.file.lacks_provenance for node in nodes if node.is_upstream or not node.distance
    )
    return lineage


async def _follow(
    reader: Edges,
    lineage: Lineage,
    edges: dict[LineageLink, None],
    start: str,
    depth: int,
    most: int,
    *,
    upstream: bool,
) -> Mapping[str, int]:
    """Follow edges in one direction: the versions that are reached, with their distances."""
    known: KnownRuns = {}
    distances = {start: 0}
    behind = [start]
    for distance in range(1, depth + 1):
        room = most + 1 - len(distances)
        step = await (_up(reader, behind) if upstream else _down(reader, behind, room + 1, known))
        reached = sorted({each for found in step.reached.values() for each in found} - distances.keys())
        behind, omitted = reached[:room], frozenset(reached[room:])
        distances |= dict.fromkeys(behind, distance)
        edges |= dict.fromkeys(edge for edge in step.edges if edge.reference in distances)
        lineage.omitted += len(omitted)
        cut = {*step.unfinished, *(each for each, found in step.reached.items() if not omitted.isdisjoint(found))}
        if cut:
            # Whatever lies further away is left out, so that the nodes are the nearest ones, at their distances.
            lineage.frontier += [*sorted(cut), *(behind if distance < depth else ())]
            break
        if not behind:
            break
    return distances


async def _up(reader: Edges, references: Sequence[str]) -> LineageStep:
    """The versions that the runs used which generated these."""
    makers = await reader.makers(references)
    used = await reader.used_by_runs(set(makers.values()))
    edges = [LineageLink(ProvenanceRelation.GENERATED, reference, run_id) for reference, run_id in makers.items()]
    edges += [LineageLink(ProvenanceRelation.USED, each, run_id) for run_id, inputs in used.items() for each in inputs]
    return LineageStep(edges, {each: list(used.get(run_id, ())) for each, run_id in makers.items()}, [])


async def _down(reader: Edges, references: Sequence[str], most: int, known: KnownRuns) -> LineageStep:
    """The versions that were generated by the runs which used these."""
    users = await reader.users(references, known, max(2 * most, LEAST_EDGES))
    edges: list[LineageLink] = []
    reached: dict[str, list[str]] = {}
    for reference, runs in users.runs.items():
        edges += [LineageLink(ProvenanceRelation.USED, reference, run.run_id) for run in runs]
        edges += [LineageLink(ProvenanceRelation.GENERATED, each, run.run_id) for run in runs for each in run.generated]
        reached[reference] = [each for run in runs for each in run.generated]
    last = users.last
    return LineageStep(edges, reached, [each for each in references if each >= last] if last is not None else [])
