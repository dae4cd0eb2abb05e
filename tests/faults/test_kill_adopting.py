"""The process that adopts is killed again and again: the next one adopts the rest, and each event once."""

import asyncio
import signal
from pathlib import Path

import pytest

from graph.domains.triggers.entities import ADOPTION_STATE, EVENTS
from graph.store.contract import Update
from graph.store.dynamodb.engine import DynamoDatabase
from graph.store.location import StoreLocation
from tests.domains.entities import ENTITIES
from tests.domains.triggers.in_store import held_clock, triggers_of
from tests.domains.triggers.test_adoption import OtherProgram
from tests.domains.triggers.test_outbox import is_consistent
from tests.effort import rounds
from tests.forking import serving
from tests.processes import TIMEOUT_S
from tests.store.engines import make_tables

FOREIGN = rounds(1000)
KILL_AFTER = (1, FOREIGN // 2, FOREIGN // 4)[: rounds(3, at_least=2)]  # adopted events
ADOPTING_ALONE = {"GRAPH_DOMAINS": "earthquakes,triggers", "GRAPH_DELIVER": "false"}


@pytest.mark.repeated
async def test_foreign_events_are_adopted_once_each_by_processes_that_are_killed(
    dynamodb_endpoint: str, tmp_path: Path
) -> None:
    store = f"dynamodb://{make_tables(ENTITIES, stream=True)}"
    async with (
        StoreLocation.of(store).open(ENTITIES, timeout_s=TIMEOUT_S) as database,
        triggers_of(database, clock=held_clock()) as ours,
    ):
        assert isinstance(database, DynamoDatabase)
        other, endpoint = OtherProgram(database), await ours.endpoint()
        for number in range(FOREIGN):
            other.put(f"evt-{number}", f"2100-03-02T11:{number // 60:02}:{number % 60:02}Z")

        for adopted in (*sorted(KILL_AFTER), FOREIGN):
            with serving("--store", store, folder=tmp_path, settings=ADOPTING_ALONE) as server:
                async with asyncio.timeout(TIMEOUT_S):
                    while (await ours.queue(endpoint))["sequence"] < adopted:
                        pass
                assert server.end(signal.SIGKILL) == -signal.SIGKILL
            await database.update(Update(ADOPTION_STATE.key_for(EVENTS.name), set={"due": 0}))  # its lease has run out

        assert len(await ours.of_endpoint(endpoint)) == FOREIGN
        assert await is_consistent(ours)
