"""Lineage and plans of any history of runs are what networkx finds in the same graph."""

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.data_files.provenance.lineage import Direction
from tests.domains.data_files.provenance.histories import Model, Step, histories
from tests.domains.data_files.provenance.in_store import ProvenanceStore, distances, provenance, stages
from tests.effort import rounds

directions = st.sampled_from(Direction)
depths = st.sampled_from([1, 1, 2, 3, 20])


async def agrees(ours: ProvenanceStore, model: Model, direction: Direction, depth: int) -> None:
    """Check the lineage of each version, and the plan for each."""
    for each in model.versions:
        lineage = await ours.lineage(each, direction, depth)
        assert distances(lineage) == model.distances(each, direction, depth)
        assert len(lineage.edges) == len(set(lineage.edges))
        assert set(lineage.edges) == model.edges(each, direction, depth)
        assert lineage.is_complete
        for node in lineage.nodes:
            assert node.revision.generated_by == model.maker_of(node.revision.version.reference)
        assert stages(await ours.plan(each)) == model.affected([each])
    assert stages(await ours.plan(*model.versions)) == model.affected(model.versions)


@given(histories, directions, depths)
async def test_lineage_and_plans_are_those_of_networkx(history: list[Step], direction: Direction, depth: int) -> None:
    async with provenance("sqlite") as ours:
        model = Model()
        await model.follow(ours, history)
        await agrees(ours, model, direction, depth)


@given(histories, directions, depths)
@settings(max_examples=rounds(10, at_least=2))
async def test_they_are_the_same_on_dynamodb(
    dynamodb_endpoint: str, history: list[Step], direction: Direction, depth: int
) -> None:
    async with provenance("dynamodb") as ours:
        model = Model()
        await model.follow(ours, history)
        await agrees(ours, model, direction, depth)
