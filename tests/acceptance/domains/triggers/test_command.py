"""`quakegraph deliver` as a process: it says what it does, ends when it is told to, and gives the work back."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

from graph.domains.triggers.entities import JOB
from graph.store.sqlite import open_sqlite
from tests.domains.entities import ENTITIES
from tests.processes import TIMEOUT_S, Child, started

A_LONG_LEASE = {"GRAPH_DELIVERER_LEASE": "600", "GRAPH_LOG_FORMAT": "json"}  # it never ends by itself in a test
READY = "Ready to deliver webhooks whenever no other process does"
BEGUN = "This process delivers webhooks from now on"
ENDED = "This process delivers no webhooks any more"


def lines_until(process: Child[str], text: str) -> list[str]:
    """The texts of its log lines, until this one."""
    assert process.stderr is not None
    texts = []
    for line in process.stderr:
        texts.append(json.loads(line)["event"])
        if texts[-1] == text:
            return texts
    raise AssertionError(f"it ended after {texts}")


def lease_of(folder: Path) -> dict[str, Any]:
    async def read() -> dict[str, Any]:
        async with open_sqlite(folder / "quakegraph.db", ENTITIES) as database:
            return await database.get(JOB.key_for("deliver")) or {}

    return asyncio.run(read())


def test_it_gives_the_lease_back_on_a_signal_and_the_next_process_takes_over(tmp_path: Path) -> None:
    with started("deliver", folder=tmp_path, settings=A_LONG_LEASE) as first:
        assert lines_until(first, BEGUN) == [READY, BEGUN]
        first.send_signal(signal.SIGINT)
        assert first.wait(TIMEOUT_S) == 0
        assert lines_until(first, ENDED) == [ENDED]
        assert lease_of(tmp_path)["unended"] == 0
    with started("deliver", folder=tmp_path, settings=A_LONG_LEASE, background=True) as second:  # as a shell starts it
        lines_until(second, BEGUN)
        second.send_signal(signal.SIGTERM)
        assert second.wait(TIMEOUT_S) == 0
