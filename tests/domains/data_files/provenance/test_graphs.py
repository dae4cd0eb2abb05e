"""Lineage and plans of any history of runs are those of its graph, and a run that fits no graph is refused."""

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.data_files.provenance.lineage import Direction
from tests.domains.data_files.in_store import FileStore, data_files, distances, stages
from tests.domains.data_files.provenance.histories import Model, Step, histories
from tests.effort import rounds

directions = st.sampled_from(Direction)
depths = st.sampled_from([1, 1, 2, 3, 20])


async def check(engine: str, history: list[Step], direction: Direction, depth: int) -> None:
    """Check the lineage of each version, and the plan for each."""
    async with data_files(engine) as ours:
        model = Model()
        await model.follow(ours, history)
        for each in model.versions:
            await check_lineage(ours, model, each, direction, depth)
            assert stages(await ours.plan(each)) == model.affected([each])
        assert stages(await ours.plan(*model.versions)) == model.affected(model.versions)


async def check_lineage(ours: FileStore, model: Model, of: str, direction: Direction, depth: int) -> None:
    lineage = await ours.lineage(of, direction, depth)
    assert distances(lineage) == model.distances(of, direction, depth)
    assert len(lineage.edges) == len(set(lineage.edges))
    assert set(lineage.edges) == model.edges(of, direction, depth)
    assert lineage.is_complete
    for node in lineage.nodes:
        assert node.revision.generated_by == model.maker_of(node.revision.version.reference)


@given(histories, directions, depths)
async def test_lineage_and_plans_are_those_of_the_graph(history: list[Step], direction: Direction, depth: int) -> None:
    await check("sqlite", history, direction, depth)


@given(histories, directions, depths)
@settings(max_examples=rounds(10, at_least=2))
async def test_they_are_the_same_on_dynamodb(
    dynamodb_endpoint: str, history: list[Step], direction: Direction, depth: int
) -> None:
    await check("dynamodb", history, direction, depth)
