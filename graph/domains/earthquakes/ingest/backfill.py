"""Ingests all events of a window, however many, in parts. Each part is marked when it is stored.

    count → fits: fetch → store → mark
          → does not fit: both halves, by time

USGS answers with at most 20,000 events, and refuses or cuts larger answers. So a part is fetched only if
its count is lower. If the answer is full all the same, or is refused, events were added meanwhile: the part
is halved too, before anything of it is stored. A window that fits needs one count and one query, and no
marks.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from graph.core.clock import Clock
from graph.core.days import DAY_MS, datetime_of
from graph.core.errors import BadUserInput
from graph.domains.earthquakes.ingest.backfill_marks import BackfillMarks, FinishedPart, NoMarks, Window
from graph.domains.earthquakes.usgs.answers import UsgsAnswer, UsgsCount
from graph.domains.earthquakes.usgs.client import UsgsClient
from graph.domains.earthquakes.usgs.errors import InvalidUpstreamResponse
from graph.domains.earthquakes.usgs.requests import EventQuery

PARTS_AT_ONCE = 2  # each is one request at a time, and at most 20,000 events in memory
DEFAULT_SPAN_MS = 30 * DAY_MS  # before now, in which USGS looks where no start is given
NO_EVENTS = UsgsAnswer([], 0, "")  # in place of an answer, where none is expected
TOO_MUCH = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE})


@dataclass(slots=True)
class BackfillProgress:
    """The progress of a back-fill."""

    to_fetch: int | None = None  # events, as USGS counted them at the beginning; None until then
    parts_before: int = 0  # done by an earlier run
    events_before: int = 0  # in these parts
    parts: int = 0  # all parts that are done, with those of an earlier run
    retries: int = 0  # attempts on USGS after the first of each request that was answered
    began_ms: int = 0  # when the first part was fetched, perhaps by an earlier run, epoch milliseconds


@dataclass(slots=True)
class Backfill:
    """One run. Two runs at once lose nothing, but may fetch the same events."""

    usgs: UsgsClient
    marks: BackfillMarks | NoMarks
    query: EventQuery
    clock: Clock
    store: Callable[[UsgsAnswer, EventQuery], Awaitable[None]]  # returns when all of the query's answer is stored
    advanced: Callable[[], None]  # called when `progress` has changed
    progress: BackfillProgress = field(default_factory=BackfillProgress)

    async def run(self) -> None:
        """Store the parts that an earlier run has not stored.

        Raises:
            BadUserInput: Only one end of the window is given, and it contradicts USGS's default for the other.
            UpstreamUnavailable: The finished parts are marked.
            InvalidUpstreamResponse: The same; or a single millisecond has too many events.
            DatabaseUnavailable: The same.
        """
        before = await self.marks.resume()
        self.progress.began_ms = self.marks.began_s * 1000
        for done in before or []:
            self.progress.parts_before += 1
            self.progress.events_before += done.events
        self.progress.parts = self.progress.parts_before
        counted = await self._count(self.query)
        self.progress.to_fetch = max(counted.events - self.progress.events_before, 0)
        self.advanced()
        if before is None:
            if await self._stored(self.query, counted) is not None:
                return
            parts = _halves(self._whole)
            await self.marks.begin()
        else:
            parts = self._whole.without(done.window for done in before)
        await self._work_off(parts)
        await self.marks.forget()

    @property
    def _whole(self) -> Window:
        """The window, with USGS's defaults for open ends."""
        now = self.clock()
        start_ms = now - DEFAULT_SPAN_MS if self.query.start_ms is None else self.query.start_ms
        end_ms = now if self.query.end_ms is None else self.query.end_ms
        if start_ms > end_ms:
            raise BadUserInput("Give both `startTime` and `endTime`: one of them alone means 30 days ago, or now.")
        # Future times must not be marked as done: a later run would skip them.
        return Window(start_ms, max(min(end_ms, now), start_ms))

    async def _work_off(self, parts: list[Window]) -> None:
        """Store parts in order of time, a few at once. If one fails, the others in progress are still finished."""
        waiting = sorted(parts, reverse=True)
        tasks: set[asyncio.Task[list[Window]]] = set()
        try:
            while waiting or tasks:
                while waiting and len(tasks) < PARTS_AT_ONCE:
                    tasks.add(asyncio.create_task(self._part(waiting.pop())))
                ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    waiting = sorted(waiting + task.result(), reverse=True)
                    tasks.remove(task)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            raise
        finally:
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _part(self, window: Window) -> list[Window]:
        """Store a part and mark it, or return the halves of one that is too large."""
        query = replace(self.query, start_ms=window.start_ms, end_ms=window.end_ms)
        events = await self._stored(query, await self._count(query))
        if events is None:
            return _halves(window)
        await self.marks.add(FinishedPart(window, events))
        self.progress.parts += 1
        self.advanced()
        return []

    async def _count(self, query: EventQuery) -> UsgsCount:
        counted = await self.usgs.count(query)
        self.progress.retries += counted.retries
        return replace(counted, most_at_once=min(counted.most_at_once, query.limit))

    async def _stored(self, query: EventQuery, counted: UsgsCount) -> int | None:
        """Store all events of a query. Returns their number; None, with nothing stored, if they are too many."""
        if not counted.events:
            await self.store(NO_EVENTS, query)  # not fetched: USGS answers 409 if all events were deleted
            return 0
        if counted.events >= counted.most_at_once:
            return None
        try:
            answer = await self.usgs.fetch(replace(query, limit=counted.most_at_once))
        except InvalidUpstreamResponse as refusal:
            # The count has accepted the same conditions, so there are too many events now.
            if refusal.refused_with not in TOO_MUCH:
                raise
            self.progress.retries += refusal.retries
            return None
        self.progress.retries += answer.retries
        if len(answer.features) >= counted.most_at_once:
            return None
        await self.store(answer, query)
        return len(answer.features)


def _halves(window: Window) -> list[Window]:
    if halves := window.halves():
        return halves
    time = datetime_of(window.start_ms).isoformat(timespec="milliseconds")
    raise InvalidUpstreamResponse(
        f"USGS has too many events at {time} to give them at once, and a millisecond cannot be split: "
        "raise `minMagnitude`."
    )
