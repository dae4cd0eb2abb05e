"""Lineage and plans of any history of runs are what networkx finds in the same graph."""

import networkx as nx
from hypothesis import given

from graph.domains.data_files.provenance.lineage import Direction
from tests.domains.data_files.in_store import data_files, distances, stages
from tests.domains.data_files.provenance.histories import Model, Step, histories


@given(histories)
async def test_lineage_and_plans_are_those_of_networkx(history: list[Step]) -> None:
    async with data_files("sqlite") as ours:
        model = Model()
        await model.follow(ours, history)
        downstream = nx.DiGraph(model.graph)
        downstream.add_nodes_from(model.versions)
        assert nx.is_directed_acyclic_graph(downstream)
        of_versions = nx.DiGraph(
            (used, made)
            for run in downstream
            if isinstance(run, int)
            for used in downstream.predecessors(run)
            for made in downstream.successors(run)
        )
        of_versions.add_nodes_from(model.versions)

        for each in model.versions:
            for direction, way in ((Direction.DOWNSTREAM, downstream), (Direction.UPSTREAM, downstream.reverse())):
                lengths = nx.single_source_shortest_path_length(way, each)
                found = {node: length // 2 for node, length in lengths.items() if isinstance(node, str)}
                assert distances(await ours.lineage(each, direction)) == found
            affected = nx.descendants(of_versions, each)
            generations = nx.topological_generations(of_versions.subgraph(affected))
            assert stages(await ours.plan(each)) == [sorted(stage) for stage in generations]
