"""A sighting's confirmations are those of its distinct users, however many confirm at once, and whatever is killed."""

import asyncio
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from graph.core.errors import NotThere
from graph.domains.sightings.entities import CONFIRMATION, CONFIRMER, FELT_REPORTS, SIGHTING_BY_ID
from graph.domains.sightings.felt.collecting import felt_report
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.model import Sighting
from tests.domains.earthquakes.revisions.histories import Clock, Source, a_record
from tests.domains.entities import ENTITIES, everything_in
from tests.domains.sightings.confirming_processes import confirming
from tests.domains.sightings.counted import both_counts, both_profiles, confirmations
from tests.domains.sightings.in_store import (
    ANNA,
    BEN,
    CARA,
    NOON_S,
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


async def expiry_of(ours: SightingStore, sighting: Sighting) -> int:
    """When a sighting expires now, epoch seconds."""
    item = await ours.database.get(SIGHTING_BY_ID.key_for(sighting.sighting_id))
    assert item is not None
    return int(item["expiresAt"])


async def assert_agreement(ours: SightingStore) -> None:
    """Check what is stored twice, while no sighting has expired."""
    for both in (both_counts, both_profiles):
        counted, recounted = await both(ours)
        assert counted == recounted
    audited = await confirmations(ours)
    assert audited == Counter((item["sightingId"], item["userId"]) for item in await ours.items(CONFIRMER))


async def test_a_user_confirms_once_and_never_an_own_sighting(engine: str) -> None:
    async with sightings(engine) as ours:
        sighting = await ours.new(ANNA, text="Loud", lat=35.6, lon=-117.6)
        outcomes = [await ours.confirm(user, sighting) for user in (ANNA, BEN, BEN, CARA, ANNA)]

        assert [outcome.confirmed for outcome in outcomes] == [False, True, False, True, False]
        assert [outcome.sighting.confirmations for outcome in outcomes] == [0, 1, 1, 2, 2]
        assert not any(outcome.created for outcome in outcomes)
        assert await ours.one(sighting) == outcomes[-1].sighting
        await assert_agreement(ours)
        anna, ben = await ours.profiles.of(ANNA), await ours.profiles.of(BEN)
        assert (anna.reports, anna.confirmations, anna.confirmations_received) == (1, 0, 2)
        assert (ben.reports, ben.confirmations, ben.confirmations_received) == (0, 1, 0)


async def test_the_audit_trail_has_who_confirmed_when(engine: str) -> None:
    async with sightings(engine) as ours:
        sighting = await ours.new(ANNA)
        ours.later(61)
        await ours.confirm(BEN, sighting)

        (confirmation,) = await ours.items(CONFIRMATION)
        nano_id = confirmation.pop("nanoId")
        assert len(nano_id) == 21
        assert confirmation == {
            "sightingId": sighting.sighting_id,
            "confirmedAt": "2100-03-02T12:01:01Z",
            "userId": BEN,
            "expiresAt": await expiry_of(ours, sighting),
        }


@pytest.mark.parametrize(
    ("lifetimes", "after", "expires"),
    [
        (Lifetimes(new=1800, refreshed=1800, longest=21_600), 0, 1800),
        (Lifetimes(new=1800, refreshed=1800, longest=21_600), 1, 1860),  # on a whole minute, rounded up
        (Lifetimes(new=1800, refreshed=1800, longest=21_600), 60, 1860),
        (Lifetimes(new=1800, refreshed=1800, longest=21_600), 1799, 3600),
        (Lifetimes(new=1800, refreshed=600, longest=21_600), 1000, 1800),  # never earlier
        (Lifetimes(new=1800, refreshed=0, longest=21_600), 1000, 1800),
        (Lifetimes(new=1800, refreshed=1800, longest=1900), 1000, 1920),  # never beyond the longest
    ],
)
async def test_a_confirmation_makes_a_sighting_last(lifetimes: Lifetimes, after: int, expires: int) -> None:
    async with sightings("sqlite", lifetimes=lifetimes) as ours:
        sighting = await ours.new(ANNA)
        ours.later(after)
        await ours.confirm(BEN, sighting)
        assert await expiry_of(ours, sighting) == NOON_S + expires
        await assert_agreement(ours)


async def test_confirmations_without_end_do_not_keep_a_sighting_beyond_its_longest_life(engine: str) -> None:
    async with sightings(engine, lifetimes=Lifetimes(new=600, refreshed=600, longest=3600)) as ours:
        sighting = await ours.new(ANNA)
        for number in range(7):
            ours.later(500)
            assert (await ours.confirm(f"user{number}", sighting)).confirmed
            counted, recounted = await both_counts(ours)
            assert counted == recounted
        assert await expiry_of(ours, sighting) == NOON_S + 3600

        ours.later(100)
        with pytest.raises(NotThere):
            await ours.confirm(BEN, sighting)


async def test_nothing_is_confirmed_that_is_not_there() -> None:
    async with sightings("sqlite") as ours:
        sighting = await ours.new(ANNA)
        hidden = await ours.new(ANNA, area="Elsewhere")
        await ours.hiding.hide(CARA, hidden.sighting_id, "Spam")
        ours.later(1800)
        stored = await everything_in(ours.database)
        unknown = "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"
        for each in (sighting.sighting_id, hidden.sighting_id, unknown, "", "\x00", "x" * 5000, "\ud800"):
            with pytest.raises(NotThere, match="There is no active sighting"):
                await ours.confirming.confirm(BEN, each)
        assert await everything_in(ours.database) == stored


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
        await assert_agreement(processes[1])


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
        await assert_agreement(ours)


async def test_confirmations_of_many_sightings_at_once_do_not_mix(engine: str) -> None:
    async with sightings(engine) as ours:
        new = [await ours.new(f"reporter{number}", area=f"Town {number}") for number in range(5)]
        users = [f"user{number}" for number in range(12)]
        chosen = [(user, sighting) for n, user in enumerate(users) for sighting in new[: n % 5 + 1]]
        await asyncio.gather(*[ours.confirm(user, sighting) for user, sighting in chosen])
        assert await confirmations(ours) == Counter((sighting.sighting_id, user) for user, sighting in chosen)
        await assert_agreement(ours)


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
            await assert_agreement(ours)

        last = [f"user{KILLS[engine] - 1}-{n}" for n in range(USERS_A_KILL)]  # those who do not know tell again
        await asyncio.gather(*[ours.confirm(user, sighting) for user in last for sighting in new])
        await assert_agreement(ours)
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
