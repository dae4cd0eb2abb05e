"""The servers of `benchmarks.compare` give the same answers, and all shapes of `benchmarks.shapes` have answers."""

from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from benchmarks import stores
from benchmarks.answers import Asking, Reference
from benchmarks.contenders import our_service, python_peer
from benchmarks.servers import Connection, Server, running
from benchmarks.shapes.__main__ import compare
from benchmarks.shapes.shapes import shapes
from benchmarks.workload import DEEPEST, queries

EVENTS = DEEPEST + 2_000


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Server]]:
    """Ours and the peers that need no Node, on a small catalogue."""
    folder = tmp_path_factory.mktemp("benchmarks")
    with pytest.MonkeyPatch.context() as patch, ExitStack() as started:
        patch.setattr(stores, "CACHE", folder)
        stores.import_ours(EVENTS, folder / "ours.db", None)
        peers = [python_peer(key, stores.peers_file(EVENTS)) for key in ("strawberry", "floor")]
        contenders = [our_service(folder / "ours.db"), *peers]
        yield {each.key: started.enter_context(running(each, None, folder)) for each in contenders}


@pytest.fixture(scope="module")
def asking(servers: dict[str, Server]) -> dict[str, Asking]:
    """What asks each of them."""
    return {key: Asking(server) for key, server in servers.items()}


@pytest.mark.parametrize("key", ["ours", "strawberry", "floor"])
def test_answers_are_those_of_sql(asking: dict[str, Asking], key: str) -> None:
    """Each contestant does the work that it is measured by."""
    with closing(Reference(stores.peers_file(EVENTS))) as reference:
        for query in queries(EVENTS):
            asking[key].verify(query.questions(), reference)


def test_shapes_have_answers(servers: dict[str, Server], asking: dict[str, Asking]) -> None:
    """Ours answers each shape, and Strawberry those that it has in the same way."""
    for shape in shapes(EVENTS):
        if not shape.is_ours_alone:
            compare(shape, servers["ours"], asking["ours"], servers["strawberry"], asking["strawberry"])
        with Connection(servers["ours"]) as connection:
            assert connection.ask(next(shape.bodies(asking["ours"]))), shape.name
