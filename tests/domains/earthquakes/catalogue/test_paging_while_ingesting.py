"""A client pages while events are ingested before, behind, beside and under its cursor."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from graph.core.days import DAY_MS
from graph.core.paging import Paging, Position
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection import Selection
from tests.domains.earthquakes.builders import NOON, an_event, catalogue_of, ids, ingest, stored
from tests.domains.earthquakes.strategies import A_FEW
from tests.effort import rounds

SELECTION = Selection(magnitudes=MagnitudeRange(2.0))
offsets = st.sampled_from([0, 0, 0, 1, -1, DAY_MS, -DAY_MS, 12 * 3_600_000 - 1, 12 * 3_600_000, 400 * DAY_MS])
magnitudes = st.sampled_from([1.9, 2.0, 4.5])


class PagingClient(RuleBasedStateMachine):
    """One client with one cursor, and an ingest that chooses its times to annoy it."""

    engine: str

    def __init__(self) -> None:
        super().__init__()
        self.stack = AsyncExitStack()
        self.loop = asyncio.Runner()
        self.named = 0
        self.ahead: list[Event] = []  # ingested where the client has still to come
        self.seen: list[Event] = []  # in the order of the connection, whichever way it is paged
        self.cursor: Position | None = None
        self.ended = False

    def run(self, work: Any) -> Any:
        return self.loop.run(work)

    def new_event(self, time_ms: int, mag: float) -> Event:
        """An event whose id sorts anywhere among the others'."""
        self.named += 1
        return an_event(f"us{self.named * 7919 % 1000:03}", time_ms, mag)

    @initialize(
        times=st.lists(st.tuples(offsets, magnitudes), max_size=12),
        size=st.integers(1, 4),
        backward=st.booleans(),
        ascending=st.booleans(),
    )
    def begin(self, times: list[tuple[int, float]], size: int, backward: bool, ascending: bool) -> None:
        self.size, self.backward, self.ascending = size, backward, ascending
        events = [self.new_event(NOON + offset, mag) for offset, mag in times]
        self.database = self.run(self.stack.enter_async_context(stored(self.engine, events)))
        self.catalogue = catalogue_of(self.database)
        whole = self.run(self.catalogue.page(SELECTION, Paging(1000), ascending=ascending))
        self.at_start: list[Event] = list(whole.records)
        assert sorted(ids(self.at_start)) == sorted(event.event_id for event in events if event.mag >= 2.0)

    @rule(offset=offsets, mag=magnitudes, elsewhere=st.booleans(), count=st.integers(1, 3))
    def ingest_near_the_cursor(self, offset: int, mag: float, elsewhere: bool, count: int) -> None:
        near = NOON if elsewhere or self.cursor is None else self.cursor["eventTsMs"]
        events = [self.new_event(near + offset, mag) for _ in range(count)]
        assert self.run(ingest(self.database, events)) == count
        later = self.ascending != self.backward
        if self.cursor is None or self.ended:
            return
        for event in events:
            if event.mag >= 2.0 and event.event_ts_ms != self.cursor["eventTsMs"]:
                self.ahead += [event] if (event.event_ts_ms > self.cursor["eventTsMs"]) == later else []

    @precondition(lambda self: not self.ended)
    @rule()
    def turn_the_page(self) -> None:
        before, after = (self.cursor, None) if self.backward else (None, self.cursor)
        paging = Paging(self.size, self.backward, after, before)
        page = self.run(self.catalogue.page(SELECTION, paging, ascending=self.ascending))
        self.seen = [*page.records, *self.seen] if self.backward else [*self.seen, *page.records]
        self.ended = not page.has_more
        assert len(page.records) == self.size or self.ended
        if page.records:
            self.cursor = page.records[0 if self.backward else -1].item

    def teardown(self) -> None:
        try:
            while hasattr(self, "database") and not self.ended:
                self.turn_the_page()
            if hasattr(self, "database"):
                self.judge()
        finally:
            self.run(self.stack.aclose())
            self.loop.close()

    def judge(self) -> None:
        """What was there at the start came in order, what was stored ahead came too, and nothing came twice."""
        assert len(set(ids(self.seen))) == len(self.seen)
        assert [event for event in self.seen if event in self.at_start] == self.at_start
        assert set(ids(self.ahead)) <= set(ids(self.seen))
        times = [event.event_ts_ms for event in self.seen]
        assert times == sorted(times, reverse=not self.ascending)


@pytest.mark.repeated
def test_nothing_is_skipped_or_repeated_while_events_are_ingested(engine: str) -> None:
    machine = type("PagingClient", (PagingClient,), {"engine": engine})
    examples = settings(A_FEW, max_examples=rounds(20 if engine == "dynamodb" else 60), stateful_step_count=15)
    run_state_machine_as_test(machine, settings=examples)
