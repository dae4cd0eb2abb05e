"""Lineage and plans of any history of runs are those of its graph; what a lineage leaves out, it says where to find."""

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.data_files.provenance.lineage import LEAST_EDGES, Direction, Lineage, LineageLink
from tests.domains.data_files.in_store import FAR, FileStore, data_files, distances, names, stages
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
        assert node.file.generated_by == model.maker_of(node.file.version.reference)


@given(histories, directions, depths)
async def test_lineage_and_plans_are_those_of_the_graph(history: list[Step], direction: Direction, depth: int) -> None:
    await check("sqlite", history, direction, depth)


@given(histories, directions, depths)
@settings(max_examples=rounds(10, at_least=2))
async def test_they_are_the_same_on_dynamodb(
    dynamodb_endpoint: str, history: list[Step], direction: Direction, depth: int
) -> None:
    await check("dynamodb", history, direction, depth)


# A lineage that leaves something out has the nearest versions

ONE_WAY = st.sampled_from([Direction.UPSTREAM, Direction.DOWNSTREAM])


def assert_honest(lineage: Lineage, of: str, direction: Direction, depth: int, most: int, model: Model) -> None:
    """Check a lineage that may leave something out."""
    every, found = model.distances(of, direction, depth), distances(lineage)
    assert len(found) <= most + 1
    assert found.items() <= every.items()
    missing = every.keys() - found.keys()
    furthest = max(found.values())
    assert all(every[each] >= max(furthest, 1) for each in missing)
    # Among those of the furthest distance are the first in order.
    last = [each for each, distance in found.items() if distance == furthest]
    assert all(max(last) < each for each in missing if every[each] == furthest > 0)

    followed = {each: set(model.distances(each, direction, 1)) for each, distance in found.items() if distance < depth}
    assert {each for each, reached in followed.items() if reached & missing} <= set(lineage.frontier) <= found.keys()
    assert lineage.is_truncated == bool(missing)
    assert lineage.is_complete == (not missing)
    if missing:
        nearest = min(every[each] for each in missing)
        assert lineage.omitted == len([each for each in missing if every[each] == nearest])
    edges = model.edges(of, direction, depth)
    assert set(lineage.edges) <= {edge for edge in edges if edge.reference in found}
    if not missing:
        assert set(lineage.edges) == edges


async def followed_to_the_end(
    ours: FileStore, start: str, direction: Direction, most: int
) -> tuple[set[str], set[LineageLink]]:
    """All nodes and edges that asking again at each frontier finds, for more at once where that is needed."""
    nodes: set[str] = set()
    edges: set[LineageLink] = set()
    asked = {start: most}
    waiting = [start]
    while waiting:
        at = waiting.pop()
        lineage = await ours.lineage(at, direction, FAR, asked[at])
        nodes |= distances(lineage).keys()
        edges |= set(lineage.edges)
        for each in lineage.frontier:
            if each == at:
                asked[each] *= 2
                waiting.append(each)
            elif each not in asked:
                asked[each] = most
                waiting.append(each)
    return nodes, edges


@given(histories, ONE_WAY, st.sampled_from([1, 2, 3, FAR]), st.integers(1, 5))
async def test_few_nodes_are_the_nearest_and_the_frontier_leads_to_all_others(
    history: list[Step], direction: Direction, depth: int, most: int
) -> None:
    async with data_files("sqlite") as ours:
        model = Model()
        await model.follow(ours, history)
        for each in model.versions:
            assert_honest(await ours.lineage(each, direction, depth, most), each, direction, depth, most, model)
            found = set(model.distances(each, direction, FAR)), model.edges(each, direction, FAR)
            assert await followed_to_the_end(ours, each, direction, most) == found


async def test_both_ways_are_truncated_each_for_itself() -> None:
    async with data_files("sqlite") as ours:
        await ours.register(*names(5, "in"))
        await ours.run(0, used=names(5, "in"), makes=["mid"])
        await ours.run(1, used=["mid"], makes=["out"])

        lineage = await ours.lineage("mid@1", Direction.BOTH, 1, 2)
        assert distances(lineage) == {"mid@1": 0, "in0000@1": 1, "in0001@1": 1, "out@1": 1}
        assert lineage.omitted == 3
        assert lineage.frontier == ["mid@1"]
        assert (await ours.lineage("mid@1", Direction.DOWNSTREAM, 1, 2)).is_complete


async def test_a_version_with_more_users_than_are_read_is_at_the_frontier_and_nothing_behind_it_is_a_node() -> None:
    async with data_files("sqlite") as ours:
        await ours.register("hub")
        for number in range(1, LEAST_EDGES):
            await ours.run(number, used=["hub"])
        await ours.run(900, used=["hub"], makes=["made"])
        lineage = await ours.lineage("hub@1", Direction.DOWNSTREAM, 1, 1)
        assert lineage.is_complete, "as many edges as are read at once"
        assert distances(lineage) == {"hub@1": 0, "made@1": 1}
        assert len(lineage.edges) == LEAST_EDGES + 1

        await ours.run(500, used=["hub"])  # comes before the run that made something
        await ours.run(901, used=["hub", "made"], makes=["far"])
        lineage = await ours.lineage("hub@1", Direction.DOWNSTREAM, FAR, 1)
        assert distances(lineage) == {"hub@1": 0}
        assert (lineage.omitted, lineage.frontier) == (0, ["hub@1"])
        assert not lineage.is_complete
        more = await ours.lineage("hub@1", Direction.DOWNSTREAM, FAR, LEAST_EDGES)
        assert distances(more) == {"hub@1": 0, "far@1": 1, "made@1": 1}
