"""A loop that is held is logged, with the place that holds it."""

import asyncio
import logging
import threading

from graph.work.loop_watch import loop_watched

GUARD_S = 60


class Seen(logging.Handler):
    """Notes the watch's warnings, and sets an event when one comes."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        self.came = threading.Event()

    def named(self) -> list[int]:
        """Which messages name the code."""
        return [at for at, message in enumerate(self.messages) if "hold_the_loop" in message]

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage() + str(vars(record)))
        self.came.set()


async def test_the_code_that_blocks_the_loop_is_named_while_it_does() -> None:
    seen = Seen()
    logger = logging.getLogger("graph.work.loop_watch")
    logger.addHandler(seen)
    try:
        async with loop_watched(0.005):
            while not seen.named():  # on a busy machine, the loop may be held before
                hold_the_loop(until=seen.came)
                seen.came.clear()
                await asyncio.sleep(0)
    finally:
        logger.removeHandler(seen)

    (at, *_) = seen.named()
    assert seen.messages[at].startswith("The event loop is held")
    assert seen.messages[at + 1].startswith("The event loop is free again")


def hold_the_loop(until: threading.Event) -> None:
    """Block, as a defect might."""
    assert until.wait(GUARD_S)
