"""Background tasks: one way to run, log, restart and stop them.

    async with BackgroundTasks() as tasks:
        tasks.start("polling", poll_forever)
        tasks.start("sweeping", partial(repeat, sweep, 60.0, failure="Expired items cannot be deleted"))

This module lies below the store, since an engine has background tasks too.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Self

from graph.core.errors import GraphError
from graph.observability.logs import get_logger

Work = Callable[[], Awaitable[object]]
Sleep = Callable[[float], Awaitable[None]]

FIRST_PAUSE_S = 1.0  # after a crash; doubled after each further one
LONGEST_PAUSE_S = 60.0  # a task that ran for longer begins again with the first pause

logger = get_logger(__name__)


class BackgroundTasks:
    """Tasks that run until this is closed.

    A crash is logged, and the task starts again after a pause that grows with each crash. A task that
    returns has ended.
    """

    def __init__(self, *, sleep: Sleep = asyncio.sleep, clock: Callable[[], float] = time.monotonic) -> None:
        self._sleep = sleep
        self._clock = clock  # seconds
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    def start(self, name: str, work: Work) -> asyncio.Task[None]:
        """Start work as a task.

        The task has its own context: it belongs to no request and no caller, even if a request starts it.

        Returns:
            The task, for a caller that wants to cancel it earlier.
        """
        task = asyncio.create_task(self._run(name, work), name=name, context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Cancel all tasks, and wait until they have ended."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def finish(self) -> None:
        """Wait until all tasks have ended by themselves."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, name: str, work: Work) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            started = self._clock()
            try:
                await work()
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                logger.exception("A background task has crashed, and starts again", task=name)
            except Exception:
                logger.exception("A background task has crashed, and starts again", task=name)
            else:
                return
            if self._clock() - started > LONGEST_PAUSE_S:
                pause_s = FIRST_PAUSE_S
            await self._sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


async def attempt(work: Work, *, failure: str, level: int = logging.WARNING) -> bool:
    """Do some work once, and log its failure. Returns whether it succeeded.

    Args:
        failure: the log's text.
        level: the log's level for an error that is raised on purpose. A defect is logged with its trace, as an error.
    """
    try:
        await work()
    except GraphError as error:
        logger.log(level, failure, cause=error.detail or str(error))
        return False
    except Exception:
        logger.exception(failure)
        return False
    return True


async def repeat(
    work: Work, every_s: float, *, failure: str, level: int = logging.WARNING, sleep: Sleep = asyncio.sleep
) -> None:
    """Do some work again and again, with a pause after each attempt. A failed attempt does not end the loop.

    Args:
        failure, level: as for `attempt`.
    """
    while True:
        await attempt(work, failure=failure, level=level)
        await sleep(every_s)
