"""A loop that is held is logged, with the place that holds it."""

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

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage() + str(vars(record)))
        self.came.set()


async def test_the_code_that_blocks_the_loop_is_named_while_it_does() -> None:
    seen = Seen()
    logger = logging.getLogger("graph.work.loop_watch")
    logger.addHandler(seen)
    try:
        async with loop_watched(0.005):
            hold_the_loop(until=seen.came)
    finally:
        logger.removeHandler(seen)

    assert seen.messages[0].startswith("The event loop is held")
    assert "hold_the_loop" in seen.messages[0]
    assert seen.messages[1].startswith("The event loop is free again")


def hold_the_loop(until: threading.Event) -> None:
    """Block, as a defect might."""
    assert until.wait(GUARD_S)
