"""Every connection of the schema: its pages, its cursors, its sizes."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from tests.contracts.connections import CASES, NODES, ROOTS, List
from tests.contracts.filled import MANY, Filled

MOST = 1000  # nodes of a page
SIZE = 4  # of pages: the last one of a list may be short


def walked(of: List, size: int, total: int, *, backward: bool) -> Iterator[tuple[list[Any], Any]]:
    """The edges of one page after the other, and what its `pageInfo` says. Each page has the same total."""
    number, cursor = ("last", "before") if backward else ("first", "after")
    end, more = ("startCursor", "hasPreviousPage") if backward else ("endCursor", "hasNextPage")
    paging: dict[str, Any] = {number: size}
    while True:
        page = of.page(**paging)
        assert page["totalCount"] == total
        yield page["edges"], page["pageInfo"]
        if not page["pageInfo"][more]:
            break
        edge = page["edges"][0 if backward else -1]
        assert edge["cursor"] == page["pageInfo"][end]
        paging[cursor] = edge["cursor"]


def assert_walks(of: List, some: int = SIZE) -> None:
    """Pages of some nodes, or of all, are the whole list in both directions, and tell what lies beside them."""
    whole = of.page(first=MOST)
    edges = whole["edges"]
    assert (whole["pageInfo"]["hasNextPage"], whole["pageInfo"]["hasPreviousPage"]) == (False, False)
    assert len({edge["cursor"] for edge in edges}) == len(edges) >= MANY
    if of.case.node.name in NODES:
        assert len({edge["node"]["id"] for edge in edges}) == len(edges)
    assert whole["totalCount"] == len(edges)

    for size in (some, len(edges)):
        forward = list(walked(of, size, len(edges), backward=False))
        backward = list(walked(of, size, len(edges), backward=True))[::-1]
        for pages in (forward, backward):
            assert [edge for page, _ in pages for edge in page] == edges, size
            assert [info["hasPreviousPage"] for _, info in pages] == [False, *[True] * (len(pages) - 1)], size
            assert [info["hasNextPage"] for _, info in pages] == [*[True] * (len(pages) - 1), False], size
        assert {len(page) for page, _ in forward[:-1] + backward[1:]} <= {size}  # only the last one may be short


@pytest.mark.parametrize("key", CASES)
def test_pages_forward_are_pages_backward_and_the_whole_list(key: str, on_sqlite: Filled) -> None:
    assert_walks(List.of(CASES[key], on_sqlite))


@pytest.mark.parametrize("key", ROOTS)
def test_pages_are_the_whole_list_on_dynamodb(key: str, on_dynamodb: Filled) -> None:
    assert_walks(List.of(CASES[key], on_dynamodb), MANY - 1)  # a page takes as long as ten on SQLite


@pytest.mark.parametrize("key", CASES)
def test_a_page_lies_between_its_cursors(key: str, on_sqlite: Filled) -> None:
    of = List.of(CASES[key], on_sqlite)
    edges = of.page(first=MOST)["edges"]
    cursors = [edge["cursor"] for edge in edges]

    for begin, end in ((0, 1), (0, 4), (1, len(edges) - 1)):
        assert of.page(after=cursors[begin], before=cursors[end], first=MOST)["edges"] == edges[begin + 1 : end]
        assert of.page(after=cursors[begin], before=cursors[end], last=MOST)["edges"] == edges[begin + 1 : end]
    assert of.page(last=1, before=cursors[0])["edges"] == of.page(first=1, after=cursors[-1])["edges"] == []


@pytest.mark.parametrize("key", CASES)
def test_a_page_without_nodes_tells_what_lies_beside_it(key: str, on_sqlite: Filled) -> None:
    of = List.of(CASES[key], on_sqlite)
    edges = of.page(first=MOST)["edges"]
    first, last = edges[0]["cursor"], edges[-1]["cursor"]

    for paging, previous, following in (
        ({"first": 0}, False, True),
        ({"last": 0}, True, False),
        ({"first": 0, "after": first}, True, True),
        ({"first": 0, "after": last}, True, False),
        ({"last": 0, "before": last}, True, True),
        ({"last": 0, "before": first}, False, True),
    ):
        page = of.page(**paging)
        told = page["pageInfo"]["hasPreviousPage"], page["pageInfo"]["hasNextPage"]
        assert (page["edges"], *told) == ([], previous, following), paging


@pytest.mark.parametrize("key", CASES)
def test_only_a_cursor_of_the_same_connection_is_accepted(key: str, on_sqlite: Filled) -> None:
    of = List.of(CASES[key], on_sqlite)
    own = of.cursors[1]
    foreign = [List.of(each, on_sqlite).cursors[0] for each in CASES.values() if of.case.refuses(each)]
    wrong: list[Any] = ["", own[: len(own) // 2], own[1:], f"{own}=", f"{own}A", own.swapcase(), "\x00", "é", *foreign]

    for argument, size in (("after", "first"), ("before", "last")):
        for cursor in wrong:
            assert of.codes(**{argument: cursor, size: 2}) == ["INVALID_CURSOR"], (argument, cursor)


@pytest.mark.parametrize("key", CASES)
def test_a_size_is_within_bounds_and_the_only_one(key: str, on_sqlite: Filled) -> None:
    of = List.of(CASES[key], on_sqlite)

    for wrong in ({"first": 1, "last": 1}, {"first": -1}, {"last": -1}, {"first": MOST + 1}, {"last": MOST + 1}):
        assert of.codes(**wrong) == ["BAD_USER_INPUT"], wrong


def test_the_filled_store_has_ties_on_the_millisecond(on_sqlite: Filled) -> None:
    for field in ("events", "serviceLogs"):
        document = f"{{ {field}(first: 99) {{ nodes {{ time: {'time' if field == 'events' else 'loggedAt'} }} }} }}"
        times = [node["time"] for node in on_sqlite.ask(document)["nodes"]]
        assert any(one == other for one, other in pairwise(times))
        assert len(set(times)) > MANY
