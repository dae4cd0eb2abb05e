"""The questions that `benchmarks` asks: no two of a kind are equal, and every server is asked the same ones."""

from itertools import islice

import pytest

from benchmarks.workload import DEEPEST, OURS, PEERS, SHALLOWEST, Dialect, Page, Query, queries

EVENTS = 1_000_000
MANY = 5_000


@pytest.mark.parametrize("query", queries(EVENTS), ids=lambda query: str(query.name))
@pytest.mark.parametrize("dialect", [OURS, PEERS], ids=["ours", "peers"])
def test_no_two_requests_of_a_kind_are_equal(query: Query, dialect: Dialect) -> None:
    """What is asked for the first time is not kept by anyone."""
    questions = list(islice(query.questions(), MANY))
    bodies = {dialect.body(each, str(each.behind) if isinstance(each, Page) else None) for each in questions}
    assert len(bodies) == MANY
    assert not any(b"\n" in body for body in bodies)


@pytest.mark.parametrize("query", queries(EVENTS), ids=lambda query: str(query.name))
def test_questions_are_the_same_each_time(query: Query) -> None:
    """So all servers are asked the same ones, in each run."""
    assert list(islice(query.questions(), MANY)) == list(islice(query.questions(), MANY))


def test_deep_pages_lie_where_cursors_are_known() -> None:
    """The cursors of these depths are found beforehand."""
    (deep,) = (query for query in queries(EVENTS) if query.name == "Q4")
    depths = {question.behind for question in islice(deep.questions(), MANY) if isinstance(question, Page)}
    assert min(depths) >= SHALLOWEST
    assert max(depths) < DEEPEST


def test_questions_end_where_there_are_no_others() -> None:
    """A small catalogue has few events to look up."""
    (lookup,) = (query for query in queries(20) if query.name == "Q2")
    assert len(list(lookup.questions())) == 20
