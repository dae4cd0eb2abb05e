"""A sighting's confirmations are those of its distinct users, however many confirm at once."""

import asyncio
import random
from pathlib import Path

import pytest

from graph.domains.sightings.entities import CONFIRMATION, CONFIRMER, FELT_REPORTS
from graph.domains.sightings.felt_reports import felt_report
from tests.domains.earthquakes.revisions.histories import Clock, Source, a_record
from tests.domains.sightings.counted import check_all
from tests.domains.sightings.in_store import ANNA, sightings, two_processes
from tests.effort import rounds

CROWD = rounds(1000)


@pytest.mark.repeated
async def test_a_crowds_confirmations_at_once_through_two_processes_count_distinct_users(
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
        assert (await processes[1].profile(ANNA)).confirmations_received == CROWD
        await check_all(processes[1])


async def test_confirmations_expire_with_their_sighting_however_long_others_keep_it(engine: str) -> None:
    async with sightings(engine) as ours:
        sighting = await ours.new(ANNA, lat=35.6, lon=-117.6)
        for user in ("ben", "cara", "dora"):
            ours.later(600)
            await ours.confirm(user, sighting)

        found = await ours.one(sighting)
        assert found is not None
        assert [item["expiresAt"] for item in await ours.items(CONFIRMATION)] == [found.item["expiresAt"]] * 3
        await check_all(ours)


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
