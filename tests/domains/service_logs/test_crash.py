"""A process that is killed while it writes logs leaves whole batches, exact counters, and a sequence without a gap."""

import asyncio
import random
import signal
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from graph.domains.service_logs.entities import ENTITIES
from graph.domains.service_logs.model import NewLog
from graph.store.sqlite import open_sqlite
from tests.domains.service_logs.builders import (
    MICROSECOND,
    NOON_NS,
    SECOND,
    Logs,
    a_log,
    held_clock,
    is_consistent,
    logs_of,
)
from tests.effort import rounds

KILLS = rounds(20, at_least=6)
LOGS = 200  # of a batch
ACTIONS = 100  # of a transaction, as on DynamoDB: so a batch takes several
AT_ONCE = 3  # batches
MOST = 60  # batches; no process lives to write so many

_forking = get_context("forkserver")
_forking.set_forkserver_preload(["graph.cli", "tests.domains.service_logs.test_crash"])


def batch(number: int) -> list[NewLog]:
    """A batch whose times overlap those of its neighbours, and that shares a log with one of them."""
    start = NOON_NS + number * 10 * MICROSECOND
    shared = a_log("plain", NOON_NS + number // 2 * SECOND, "shared")
    times = [start + n // 3 * 100 * MICROSECOND for n in range(LOGS)]
    return [
        *(
            a_log(("hot", "plain")[n % 2], time_ns, f"{number} {n}", severity=1 + n % 24)
            for n, time_ns in enumerate(times)
        ),
        shared,
    ]


def write(path: Path, first: int, acknowledged: Connection) -> None:
    """Write batches, several at once, and send the number of each one that is stored."""

    async def write_all() -> None:
        clock = held_clock()
        async with open_sqlite(path, ENTITIES, clock=clock) as database:
            database.transaction_limit = ACTIONS
            logs = logs_of(database, clock=clock, hot_services=("hot",))

            async def write_some(remainder: int) -> None:
                for number in range(first + remainder, first + MOST, AT_ONCE):
                    await logs.write(*batch(number))
                    acknowledged.send(number)

            await asyncio.gather(*[write_some(remainder) for remainder in range(AT_ONCE)])

    asyncio.run(write_all())


def kill(path: Path, first: int, chosen: random.Random) -> set[int]:
    """Kill a process that writes batches, after some of them. Returns the numbers of those that it acknowledged."""
    receiving, sending = _forking.Pipe(duplex=False)
    process = _forking.Process(target=write, args=(path, first, sending))
    process.start()
    sending.close()
    acknowledged = {receiving.recv() for _ in range(chosen.randrange(1, 4))}
    process.join(chosen.random() * 0.03)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    with suppress(EOFError):
        while True:
            acknowledged.add(receiving.recv())
    receiving.close()
    return acknowledged


async def texts_in(logs: Logs) -> list[str]:
    """The stored logs as `service message`, in order of text."""
    return sorted(f"{log.service} {log.message} {log.time_unix_nano}" for log in await logs.stored())


@pytest.mark.repeated
async def test_batches_acknowledged_before_a_kill_are_whole_and_all_is_counted(tmp_path: Path) -> None:
    path, chosen, clock = tmp_path / "logs.db", random.Random(20260803), held_clock()
    acknowledged = {-1}
    for _ in range(KILLS):
        first = max(acknowledged) + 1 - AT_ONCE  # some of them again
        acknowledged |= await asyncio.to_thread(kill, path, max(first, 0), chosen)

        async with open_sqlite(path, ENTITIES, clock=clock) as database:
            logs = logs_of(database, clock=clock, hot_services=("hot",))
            assert await is_consistent(logs)
            stored = set(await texts_in(logs))
            for number in acknowledged - {-1}:
                assert {f"{log.service} {log.message} {log.time_ns}" for log in batch(number)} <= stored

    async with open_sqlite(path, ENTITIES, clock=clock) as database:
        logs = logs_of(database, clock=clock, hot_services=("hot",))
        everything = range(max(acknowledged) + AT_ONCE + 1)
        for number in everything:
            await logs.write(*batch(number))
        of_all = {f"{log.service} {log.message} {log.time_ns}" for number in everything for log in batch(number)}
        assert await texts_in(logs) == sorted(of_all)
        assert await is_consistent(logs)
