"""Background tasks run until they are stopped, whatever happens to them, and no pause here takes any time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.work.tasks import FIRST_PAUSE_S, LONGEST_PAUSE_S, BackgroundTasks, attempt, repeat
from tests.processes import TIMEOUT_S


class Pauses:
    """Pauses that are noted and take no time; after so many of them, `ended` is set and the next one never ends."""

    def __init__(self, number: int) -> None:
        self.seconds: list[float] = []
        self._number = number
        self._ended = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        if len(self.seconds) == self._number:
            self._ended.set()
            await asyncio.Event().wait()
        self.seconds.append(seconds)

    async def ended(self) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            await self._ended.wait()


def failing(errors: list[BaseException | None]) -> Callable[[], Awaitable[None]]:
    """Work that fails with each of the errors in turn, and with the last one for ever."""

    async def work() -> None:
        error = errors.pop(0) if len(errors) > 1 else errors[0]
        if error:
            raise error

    return work


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str, bool]]:
    """Level, text and whether there is a trace, of what the tasks logged."""
    records = [record for record in caplog.records if record.name == "graph.work.tasks"]
    return [(record.levelno, record.getMessage(), bool(record.exc_info)) for record in records]


async def test_a_task_runs_until_the_end_and_is_awaited_there() -> None:
    begun, steps = asyncio.Event(), list[str]()

    async def work() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            steps.append("cleaned up")

    pauses = Pauses(1)
    async with BackgroundTasks(sleep=pauses.sleep) as tasks:
        task = tasks.start("waiting", work)
        stopped = tasks.start("stopped", asyncio.Event().wait)
        tasks.start("failing", failing([ValueError("a defect")]))
        await begun.wait()
        assert task.get_name() == "waiting"
        stopped.cancel()
        await asyncio.wait([stopped])
        await pauses.ended()
        assert not task.done(), "no task touches another"

    assert task.cancelled()
    assert steps == ["cleaned up"]


async def test_a_task_that_crashes_starts_again_after_a_growing_pause(caplog: pytest.LogCaptureFixture) -> None:
    pauses = Pauses(9)
    async with BackgroundTasks(sleep=pauses.sleep, clock=lambda: 0.0) as tasks:
        tasks.start("failing", failing([ValueError("a defect")]))
        await pauses.ended()

    assert pauses.seconds == [FIRST_PAUSE_S, 2, 4, 8, 16, 32, LONGEST_PAUSE_S, LONGEST_PAUSE_S, LONGEST_PAUSE_S]
    assert logged(caplog) == [(logging.ERROR, "A background task has crashed, and starts again", True)] * 10
    assert caplog.records[0].__dict__["keywords"] == {"task": "failing"}


async def test_the_pause_is_short_again_after_a_long_run() -> None:
    times = iter([0.0, 1.0, 1.0, 2.0, 2.0, LONGEST_PAUSE_S + 3.0, 0.0, 0.0])
    pauses = Pauses(3)
    async with BackgroundTasks(sleep=pauses.sleep, clock=lambda: next(times)) as tasks:
        tasks.start("failing", failing([ValueError("a defect")]))
        await pauses.ended()

    assert pauses.seconds == [FIRST_PAUSE_S, 2 * FIRST_PAUSE_S, FIRST_PAUSE_S]


async def test_a_cancellation_that_came_from_within_is_a_crash(caplog: pytest.LogCaptureFixture) -> None:
    pauses = Pauses(1)
    async with BackgroundTasks(sleep=pauses.sleep) as tasks:
        await tasks.start("cancelled", failing([asyncio.CancelledError(), None]))

    assert pauses.seconds == [FIRST_PAUSE_S]
    assert logged(caplog) == [(logging.ERROR, "A background task has crashed, and starts again", True)]


async def test_a_task_belongs_to_no_request() -> None:
    request: ContextVar[str] = ContextVar("request", default="none")
    seen = []

    async def work() -> None:
        seen.append(request.get())

    request.set("of a client")
    async with BackgroundTasks() as tasks:
        await tasks.start("asking", work)

    assert seen == ["none"]


@pytest.mark.parametrize(
    ("error", "succeeds", "logs"),
    [
        (None, True, []),
        (DatabaseUnavailable("the disk is full"), False, [(logging.INFO, "It failed", False)]),
        (RuntimeError("a defect"), False, [(logging.ERROR, "It failed", True)]),
    ],
)
async def test_the_failure_of_an_attempt_is_logged_by_its_kind(
    caplog: pytest.LogCaptureFixture, error: Exception | None, succeeds: bool, logs: list[tuple[int, str, bool]]
) -> None:
    caplog.set_level("INFO")

    assert await attempt(failing([error]), failure="It failed", level=logging.INFO) is succeeds
    assert logged(caplog) == logs


async def test_a_round_that_fails_does_not_end_the_later_ones(caplog: pytest.LogCaptureFixture) -> None:
    rounds = []

    async def work() -> None:
        rounds.append(1)
        await fail()

    fail = failing([None, ValueError("a defect"), DatabaseUnavailable("away"), None])
    pauses = Pauses(4)
    async with BackgroundTasks() as tasks:
        tasks.start("repeated", partial(repeat, work, 5.0, failure="A round failed", sleep=pauses.sleep))
        await pauses.ended()

    assert (len(rounds), pauses.seconds) == (5, [5.0] * 4)
    assert logged(caplog) == [(logging.ERROR, "A round failed", True), (logging.WARNING, "A round failed", False)]
