"""The questions that `benchmarks` asks: no two of a kind are equal, and every server is asked the same ones."""

from itertools import islice

import pytest

from benchmarks.workload import DEEPEST, OURS, PEERS, SHALLOWEST, Page, Query, queries

EVENTS = 1_000_000
MANY = 1_000


@pytest.mark.parametrize("query", queries(EVENTS), ids=lambda query: str(query.name))
def test_no_two_requests_of_a_kind_are_equal_and_each_run_has_the_same_ones(query: Query) -> None:
    """What is asked for the first time is not kept by anyone. Deep pages lie where cursors are known."""
    questions = list(islice(query.questions(), MANY))
    assert questions == list(islice(query.questions(), MANY))
    for dialect in (OURS, PEERS):
        bodies = {dialect.body(each, str(each.behind) if isinstance(each, Page) else None) for each in questions}
        assert len(bodies) == MANY
        assert not any(b"\n" in body for body in bodies)
    if query.name == "Q4":
        assert all(isinstance(each, Page) and SHALLOWEST <= each.behind < DEEPEST for each in questions)


def test_questions_end_where_there_are_no_others() -> None:
    """A small catalogue has few events to look up."""
    (lookup,) = (query for query in queries(20) if query.name == "Q2")
    assert len(list(lookup.questions())) == 20
