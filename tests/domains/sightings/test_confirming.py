"""A sighting's confirmations are those of its distinct users, however many confirm at once, and whatever is killed."""

import asyncio
import random
import signal
from pathlib import Path

import pytest

from graph.domains.sightings.entities import CONFIRMATION, CONFIRMER, FELT_REPORTS
from graph.domains.sightings.felt.collecting import felt_report
from tests.domains.earthquakes.revisions.histories import Clock, Source, a_record
from tests.domains.entities import ENTITIES
from tests.domains.sightings.confirming_processes import confirming
from tests.domains.sightings.counted import check_all, confirmations
from tests.domains.sightings.in_store import (
    ANNA,
    BEN,
    CARA,
    SightingStore,
    held_clock,
    sightings,
    store_of,
    two_processes,
)
from tests.effort import THOROUGH
from tests.processes import TIMEOUT_S
from tests.store.engines import new_store

CROWD = 1000
KILLS = {"sqlite": 12 if THOROUGH else 4, "dynamodb": 6 if THOROUGH else 3}
USERS_A_KILL = 60


async def test_a_thousand_confirmations_at_once_through_two_processes_count_distinct_users(
    engine: str, tmp_path: Path
) -> None:
    async with two_processes(engine, tmp_path) as processes:
        sighting = await processes[0].new(ANNA, lat=35.6, lon=-117.6)
        users = [f"user{number}" for number in range(CROWD)]
        twice = [*users, *users[::7], ANNA, ANNA]
        random.Random(18).shuffle(twice)
        outcomes = await asyncio.gather(
            *[processes[number % 2].confirm(user, sighting) for number, user in enumerate(twice)]
        )

        assert [outcome.confirmed for outcome in outcomes].count(True) == CROWD
        assert max(outcome.sighting.confirmations for outcome in outcomes) == CROWD
        found = await processes[0].one(sighting)
        assert found is not None
        assert found.confirmations == CROWD
        assert len(await processes[1].items(CONFIRMER)) == len(await processes[1].items(CONFIRMATION)) == CROWD
        assert (await processes[1].profiles.of(ANNA)).confirmations_received == CROWD
        await check_all(processes[1])


async def test_forty_at_once_who_each_felt_another_earthquake_all_count(engine: str) -> None:
    async with sightings(engine) as ours:
        names = [f"us{number}" for number in range(41)]
        await Source(ours.database, clock=Clock()).say(*map(a_record, names))
        sighting = await ours.new(ANNA, lat=35.6, lon=-117.6, event_id=names.pop())
        ours.later(61)  # so that the sighting lasts longer, which takes further actions of each transaction
        now = ours.clock() // 1000
        confirming_now = [
            ours.confirming.confirm(name, sighting.sighting_id, felt_report({"felt": 1.0}, 35.6, -117.6, now, name))
            for name in names
        ]
        assert all(outcome.confirmed for outcome in await asyncio.gather(*confirming_now))
        assert {item["place"]: item["reports"] for item in await ours.items(FELT_REPORTS)} == {
            f"event:{name}": 1 for name in names
        }
        found = await ours.one(sighting)
        assert found is not None
        assert found.confirmations == 40
        await check_all(ours)


@pytest.mark.repeated
async def test_processes_that_are_killed_while_they_confirm_leave_nothing_half_counted(
    engine: str, tmp_path: Path
) -> None:
    store, chosen, done = await new_store(engine, tmp_path, ENTITIES), random.Random(20260803), 0
    async with store_of(store, held_clock()) as ours:
        new = [await ours.new(ANNA, lat=35.6, lon=-117.6), await ours.new(BEN), await ours.new(CARA, area="Harbour")]
        ids = [sighting.sighting_id for sighting in new]
        for number in range(KILLS[engine]):
            users = [f"user{number}-{n}" for n in range(USERS_A_KILL)]
            with confirming(store, ids, users) as process:
                wanted = done + chosen.randrange(1, len(ids) * USERS_A_KILL // 2)
                async with asyncio.timeout(TIMEOUT_S):
                    while await number_of_confirmations(ours, ids) < wanted:
                        assert process.is_alive()
                process.kill()
                process.join()
                assert process.exitcode == -signal.SIGKILL
            done = await settled(ours, ids)
            await check_all(ours)

        last = [f"user{KILLS[engine] - 1}-{n}" for n in range(USERS_A_KILL)]  # those who do not know tell again
        await asyncio.gather(*[ours.confirm(user, sighting) for user in last for sighting in new])
        await check_all(ours)
        assert {(sighting_id, user) for sighting_id in ids for user in last} <= (await confirmations(ours)).keys()


async def number_of_confirmations(ours: SightingStore, ids: list[str]) -> int:
    """How often sightings are confirmed, all together."""
    found = await ours.sightings.by_id(ids)
    return sum([sighting.confirmations for sighting in found.values()])


async def settled(ours: SightingStore, ids: list[str]) -> int:
    """The same, once nothing changes any more: DynamoDB goes on with what it was sent before a kill."""
    before, now = -1, await number_of_confirmations(ours, ids)
    while now != before:
        await ours.items(CONFIRMER)
        before, now = now, await number_of_confirmations(ours, ids)
    return now
