"""A watch of an area is told of every new sighting there of its category, with the sighting's values.

It is told of each sighting once, wherever a follower breaks off.
"""

from functools import partial
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.domains.area_watches import watches as area_watches
from graph.domains.area_watches.entities import AREA_WATCHER
from graph.domains.area_watches.model import AreaWatch
from graph.domains.area_watches.reported import REPORTED
from graph.domains.area_watches.watcher import AreaWatcher
from graph.domains.sightings.categories import ALL
from graph.domains.sightings.entities import SIGHTING_CHANGE
from graph.domains.sightings.grid import KM10
from graph.domains.triggers import following
from graph.domains.triggers.checking import OWN_WORDS, check_type
from graph.domains.triggers.endpoints import EndpointChanges
from graph.domains.triggers.entities import FEED_POSITION
from graph.domains.triggers.following import FeedPosition
from graph.store.contract import Delete
from tests.domains.area_watches.lookouts import (
    ADA,
    BEA,
    FIRE,
    HERE,
    REX,
    SHAKING,
    THERE,
    Lookout,
    a_lookout,
    every,
    told_by,
    watches_in,
)
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.sightings.in_store import sightings_of
from tests.domains.triggers.in_store import URL
from tests.domains.watching import (
    EACH_WAY,
    Told,
    TwoFollowers,
    assert_told_although_it_breaks_off,
    follower_steps,
    sequences_in,
)
from tests.effort import THOROUGH, rounds


async def test_a_watch_is_told_of_its_area_and_category_and_not_of_its_users_own_reports(lookout: Lookout) -> None:
    everything, shakings, fires = [await lookout.watch(ADA, category=category) for category in (ALL, SHAKING, FIRE)]
    elsewhere, own = await lookout.watch(BEA, THERE), await lookout.watch(REX)
    shaking, fire = await lookout.report(), await lookout.report(category=FIRE)
    there, by_ada = await lookout.report(THERE, FIRE), await lookout.report(user_id=ADA)
    await lookout.report("x")
    await lookout.follower().catch_up()

    wanted = every([everything, shakings], shaking) + every([everything, fires], fire)
    assert await lookout.told() == wanted + every([elsewhere], there) + every([own], by_ada)
    users = {(event.user_id, event.event_type) for event in await lookout.events()}
    assert users == {(user, REPORTED.name) for user in (ADA, BEA, REX)}


async def test_a_watch_is_told_of_what_is_stored_from_when_it_is_made_until_it_is_deleted(lookout: Lookout) -> None:
    follower = lookout.follower()
    await lookout.report()
    first = await lookout.watch(ADA)
    between = await lookout.report()
    second = await lookout.watch(BEA)
    behind = await lookout.report()
    await follower.catch_up()
    await lookout.watches.delete(ADA, first.watch_id)
    last = await lookout.report()
    await follower.catch_up()

    assert await lookout.told() == every([first], between, behind) + every([second], behind, last)


async def test_a_report_is_told_once_although_others_repeat_and_confirm_it_and_it_is_hidden(lookout: Lookout) -> None:
    watch = await lookout.watch()
    async with sightings_of(lookout.database, lookout.clock) as ours:
        sighting = await ours.new(REX, area="Ridgecrest", lat=35.6225, lon=-117.6709, text="It shook.")
        assert (await ours.report(BEA, area="Ridgecrest", lat=35.6225, lon=-117.6709)).confirmed
        assert (await ours.confirm("cleo", sighting)).confirmed
        await lookout.follower().catch_up()
        await ours.hide("mod", sighting.sighting_id, "It is spam.")
        await lookout.follower().catch_up()

    (event,) = await lookout.events()
    assert told_by(event) == (watch.watch_id, sighting.sighting_id)
    said = event.payload["sighting"]
    assert said["position"] == {"lat": sighting.lat, "lon": sighting.lon, "precisionKm": 10}
    assert (said["reporterTier"], said["reportedAt"]) == ("BRONZE", "2100-03-02T12:00:00Z")


async def test_a_user_whose_turn_or_quota_is_over_is_left_out(lookout: Lookout) -> None:
    await lookout.watch(ADA)
    await lookout.watch(BEA)
    await lookout.report()
    watcher = AreaWatcher(lookout.changes, watches_in(lookout.database, lookout.clock))
    (change,) = await watcher.sequence.since(0, 9)

    assert [each.event.user_id async for each in watcher.wanted(change, FeedPosition(), BEA.__eq__)] == [BEA]


async def test_a_sighting_that_has_expired_or_is_hidden_is_not_told_any_more(lookout: Lookout) -> None:
    watch = await lookout.watch()
    async with sightings_of(lookout.database, lookout.clock) as ours:
        await ours.new(REX, area="Ridgecrest")
        ours.later(1801)
        hidden = await ours.new(REX, area="Ridgecrest")
        await ours.hide("mod", hidden.sighting_id, "It is spam.")
        await lookout.report()
        told = await lookout.report()
        await lookout.database.delete(Delete(SIGHTING_CHANGE.key_for(4)))  # as its TTL does once the sequence was read
        await lookout.follower().catch_up()

    assert await lookout.told() == every([watch], told)


async def test_payloads_are_the_sightings_values_and_name_no_user(lookout: Lookout) -> None:
    watch = await lookout.watch(category=SHAKING)
    others: dict[str, Any] = {"text": "The lamps swung.", "lat": 35.6, "lon": -117.6, "eventId": "ci1"}
    full, sparse = await lookout.report(**others), await lookout.report()
    at = KM10.centre(KM10.cell(35.6, -117.6))
    await lookout.follower().catch_up()
    payloads = [event.payload for event in await lookout.events()]

    assert payloads[0] == {
        "sighting": {
            "sightingId": full["sightingId"],
            "category": SHAKING,
            "area": {"slug": HERE},
            "text": "The lamps swung.",
            "reportedAt": "2100-03-02T12:00:00Z",
            "expiresAt": "2100-03-02T12:30:00Z",
            "position": {**at._asdict(), "precisionKm": 10},
            "reporterTier": "SILVER",
            "eventId": "ci1",
        },
        "watch": {"watchId": watch.watch_id, "area": HERE, "category": SHAKING},
    }
    nothing = dict.fromkeys(("text", "position", "eventId"))
    assert payloads[1]["sighting"] == {**payloads[0]["sighting"], "sightingId": sparse["sightingId"], **nothing}
    for payload in payloads:
        assert not {REX.encode(), ADA.encode()} & {*orjson.dumps(payload).split(b'"')}
    check_type(REPORTED.name)
    assert REPORTED.name.partition(".")[0] in OWN_WORDS


async def test_a_change_reads_only_the_watches_of_its_area_and_category_and_of_all(lookout: Lookout) -> None:
    for number in range(5):
        await lookout.watch(f"u{number}", f"area{number}")
    await lookout.report()
    database = WatchedDatabase(lookout.database)
    await lookout.follower(database).catch_up()

    assert database.read(AREA_WATCHER) == {(HERE, SHAKING), (HERE, ALL)}
    queries = 1 if database.merges > 1 else 2
    assert [call.method for call in database.calls if call.entity is AREA_WATCHER] == ["query"] * queries


async def test_many_watches_are_told_in_the_order_of_their_ids_some_at_a_time(
    lookout: Lookout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(area_watches, "READ_AT_ONCE", 3)
    watches = []
    for number in range(8):
        lookout.clock.now += 1
        watches.append(await lookout.watch(f"u{number}", category=(ALL, SHAKING)[number % 2]))
    sighting = await lookout.report()
    await lookout.follower().catch_up()

    told = [event.payload["watch"]["watchId"] for event in await lookout.events()]
    assert told == [watch.watch_id for watch in watches]
    assert await lookout.told() == every(watches, sighting)
    position = await lookout.database.get(FEED_POSITION.key_for("sightings"))
    assert position is not None
    assert (position["number"], position["version"], position["watch_id"]) == (0, 0, watches[-1].watch_id)


async def reported(lookout: Lookout, watches: list[AreaWatch], number: int = 1) -> Told:
    """Report so many sightings, and return what these watches have to be told."""
    return every(watches, *[await lookout.report() for _ in range(number)])


@pytest.mark.repeated
async def test_a_follower_that_breaks_off_at_any_call_of_the_store_repeats_and_leaves_out_nothing(
    lookout: Lookout, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "EVENTS_AT_ONCE", 2)
    monkeypatch.setattr(following, "CHANGES_AT_ONCE", 2)
    monkeypatch.setattr(area_watches, "READ_AT_ONCE", 2)
    await lookout.endpoints().create(ADA, URL, EndpointChanges())
    watches = [await lookout.watch(user, category=category) for user in (ADA, BEA) for category in (ALL, SHAKING)]
    ways, step = (EACH_WAY, 1) if engine == "sqlite" else ([("answer lost", True), ("cancelled", False)], 4)
    step *= 1 if THOROUGH else 3
    happen = partial(reported, lookout, watches, 2)
    wanted = await assert_told_although_it_breaks_off(lookout, happen, ways, step=step)

    assert await sequences_in(lookout.database) == list(range(1, wanted.total() // 2 + 1))


areas = st.sampled_from([HERE, THERE])
users = st.sampled_from([ADA, BEA, REX])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("report"), st.tuples(areas, st.sampled_from([FIRE, SHAKING]), users)),
        st.tuples(st.just("watch"), st.tuples(users, areas, st.sampled_from([FIRE, ALL]))),
        follower_steps,
    ),
    max_size=16,
)


@settings(max_examples=rounds(100))
@given(steps)
async def test_in_whatever_order_users_watch_and_followers_break_off_each_sighting_is_told_once(
    some: list[tuple[str, Any]],
) -> None:
    async with a_lookout("sqlite") as lookout:
        followers = TwoFollowers(lookout)
        there, wanted = dict[Any, AreaWatch](), Told()
        for step, what in some:
            lookout.clock.now += 1
            if step == "report":
                told = [watch for watch in there.values() if wants(watch, *what)]
                wanted += every(told, await lookout.report(*what))
            elif step == "watch":
                there[what] = await lookout.watch(*what)
            else:
                await followers.do(step, what)
        await followers.catch_up()

        assert await lookout.told() == wanted


def wants(watch: AreaWatch, area: str, category: str, reporter: str) -> bool:
    """Whether a watch has to be told of a report."""
    return watch.area_slug == area and watch.category in (ALL, category) and watch.user_id != reporter
