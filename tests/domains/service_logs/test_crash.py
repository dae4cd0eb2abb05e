"""A write that breaks off at any call leaves whole transactions, exact counters, and a sequence without a gap.

A process that is killed breaks off at some call of the store, too. That a store keeps whole transactions when a process
is killed is tested with the faults of the service.
"""

from graph.domains.service_logs.model import NewLog
from tests.domains.service_logs.builders import (
    MICROSECOND,
    NOON_NS,
    a_log,
    held_clock,
    is_consistent,
    logs_of,
    service_logs,
)
from tests.domains.watches.cuts import Cut, cut_off

LOGS = 16  # of a batch, which takes several transactions


def batch(number: int) -> list[NewLog]:
    """A batch whose times overlap those of its neighbours, and that shares a log with one of them."""
    start = NOON_NS + number * 10 * MICROSECOND
    times = [start + n // 3 * 100 * MICROSECOND for n in range(LOGS)]
    return [
        *(a_log(("hot", "plain")[n % 2], at, f"{number} {n}", severity=1 + n % 24) for n, at in enumerate(times)),
        a_log("plain", NOON_NS + number // 2 * 1000 * MICROSECOND, "shared"),
    ]


async def test_a_batch_that_breaks_off_at_any_call_can_be_written_again() -> None:
    number, written = 0, set[str]()
    async with service_logs("sqlite", hot_services=("hot",)) as logs:
        for way in ("refused", "answer lost"):
            left, broke_off = 0, True
            while broke_off:
                number, left = number + 1, left + 1
                database = Cut(logs.database, way)
                database.left = left
                await cut_off(logs_of(database, clock=held_clock(), hot_services=("hot",)).write(*batch(number)))
                broke_off = database.left <= 0
                assert await is_consistent(logs)

                report = await logs.write(*batch(number))  # by whoever does not know whether it was stored
                written |= {f"{log.service} {log.message} {log.time_ns}" for log in batch(number)}
                stored = [f"{log.service} {log.message} {log.time_unix_nano}" for log in await logs.stored()]
                assert sorted(stored) == sorted(written)
                assert report.accepted + report.skipped == LOGS + 1
                assert await is_consistent(logs)
            assert left > 4
