"""A watch is told of each sighting that it asks for: which, since when, to whom, and with which values."""

from typing import Any

import orjson
import pytest
from jsonschema_rs import Draft202012Validator, meta

from graph.domains.sightings.categories import ALL
from graph.domains.sightings.entities import AREA_WATCHER, SIGHTING_CHANGE
from graph.domains.sightings.model import ChangeKind
from graph.domains.sightings.watching import area_watches
from graph.domains.sightings.watching.reported import REPORTED
from graph.domains.triggers.checking import OWN_WORDS, check_type
from graph.domains.triggers.endpoints import EndpointChanges
from graph.domains.triggers.entities import DELIVERY, FEED_POSITION
from graph.domains.triggers.model import Delivery
from graph.store.contract import Delete
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.sightings.in_store import sightings_of
from tests.domains.sightings.watching.lookouts import (
    ADA,
    BEA,
    FIRE,
    HERE,
    REX,
    SHAKING,
    THERE,
    Lookout,
    every,
    told_by,
)
from tests.domains.triggers.in_store import URL


async def test_a_watch_is_told_of_its_area_and_of_its_category_or_of_all(lookout: Lookout) -> None:
    everything, fires = await lookout.watch(), await lookout.watch(BEA, category=FIRE)
    elsewhere = await lookout.watch(area=THERE)
    shaking, fire = await lookout.report(), await lookout.report(category=FIRE)
    there = await lookout.report(THERE, FIRE)
    await lookout.report("x")
    await lookout.follower().catch_up()

    wanted = every([everything], shaking, fire) + every([fires], fire) + every([elsewhere], there)
    assert await lookout.told() == wanted
    assert {(event.user_id, event.event_type) for event in await lookout.events()} == {
        (ADA, REPORTED.name),
        (BEA, REPORTED.name),
    }


async def test_a_user_with_watches_of_all_and_of_a_category_is_told_for_each(lookout: Lookout) -> None:
    watches = [await lookout.watch(category=category) for category in (ALL, SHAKING)]
    sighting = await lookout.report()
    await lookout.follower().catch_up()

    assert await lookout.told() == every(watches, sighting)


async def test_reporters_are_not_told_of_their_own_sightings(lookout: Lookout) -> None:
    own, others = await lookout.watch(REX), await lookout.watch(ADA)
    by_rex, by_ada = await lookout.report(user_id=REX), await lookout.report(user_id=ADA)
    await lookout.follower().catch_up()

    assert await lookout.told() == every([others], by_rex) + every([own], by_ada)


async def test_a_watch_is_told_of_what_is_stored_after_it_was_made(lookout: Lookout) -> None:
    await lookout.report()
    first = await lookout.watch(ADA)
    between = await lookout.report()
    second = await lookout.watch(BEA)
    behind = await lookout.report()
    await lookout.follower().catch_up()

    assert await lookout.told() == every([first], between, behind) + every([second], behind)


async def test_a_deleted_watch_is_told_of_nothing_more(lookout: Lookout) -> None:
    watch, follower = await lookout.watch(), lookout.follower()
    told = await lookout.report()
    await follower.catch_up()
    await lookout.watches.delete(ADA, watch.watch_id)
    await lookout.report()
    await follower.catch_up()

    assert await lookout.told() == every([watch], told)


async def test_a_report_is_told_once_although_others_repeat_and_confirm_it_and_it_is_hidden(lookout: Lookout) -> None:
    watch = await lookout.watch()
    async with sightings_of(lookout.database, lookout.clock) as ours:
        sighting = await ours.new(REX, area="Ridgecrest", lat=35.6225, lon=-117.6709, text="It shook.")
        assert (await ours.report(BEA, area="Ridgecrest", lat=35.6225, lon=-117.6709)).confirmed
        assert (await ours.confirm("cleo", sighting)).confirmed
        await lookout.follower().catch_up()
        await ours.hiding.hide("mod", sighting.sighting_id, "It is spam.")
        await lookout.follower().catch_up()

    (event,) = await lookout.events()
    assert told_by(event) == (watch.watch_id, sighting.sighting_id)
    said = event.payload["sighting"]
    assert said["position"] == {"lat": sighting.lat, "lon": sighting.lon, "precisionKm": 10}
    assert (said["reporterTier"], said["reportedAt"]) == ("BRONZE", "2100-03-02T12:00:00Z")
    Draft202012Validator(REPORTED.schema, validate_formats=True).validate(event.payload)


async def test_confirmations_and_hidings_are_not_told(lookout: Lookout) -> None:
    watch = await lookout.watch()
    sighting = await lookout.report()
    await lookout.change(ChangeKind.CONFIRMED, sighting)
    await lookout.change(ChangeKind.HIDDEN, sighting)
    await lookout.follower().catch_up()

    assert await lookout.told() == every([watch], sighting)


async def test_a_sighting_that_has_expired_or_is_hidden_is_not_told_any_more(lookout: Lookout) -> None:
    await lookout.watch()
    async with sightings_of(lookout.database, lookout.clock) as ours:
        await ours.new(REX, area="Ridgecrest")
        ours.later(1801)
        hidden = await ours.new(REX, area="Ridgecrest")
        await ours.hiding.hide("mod", hidden.sighting_id, "It is spam.")
        await lookout.follower().catch_up()

    assert await lookout.events() == []


async def test_a_sighting_of_which_the_change_has_expired_keeps_no_other_from_being_told(lookout: Lookout) -> None:
    watch = await lookout.watch()
    await lookout.report()
    told = await lookout.report()
    await lookout.database.delete(Delete(SIGHTING_CHANGE.key_for(1)))  # as its TTL does after the sequence was read
    await lookout.follower().catch_up()

    assert await lookout.told() == every([watch], told)


async def test_an_endpoint_that_wants_the_type_gets_the_events_of_its_user(lookout: Lookout) -> None:
    endpoints = lookout.endpoints()
    wanting, _ = await endpoints.create(ADA, URL, EndpointChanges(types=(REPORTED.name,)))
    await endpoints.create(ADA, URL, EndpointChanges(types=("earthquake.created",)))
    await endpoints.create(REX, URL, EndpointChanges())
    await lookout.watch()
    await lookout.report()
    await lookout.follower().catch_up()

    deliveries = [Delivery(item) async for item in lookout.database.scan(DELIVERY)]
    assert [(each.endpoint_id, each.event_type) for each in deliveries] == [(wanting.endpoint_id, REPORTED.name)]


async def test_payloads_are_the_sightings_values_name_no_user_and_fit_the_schema(lookout: Lookout) -> None:
    watch = await lookout.watch(category=SHAKING)
    others: dict[str, Any] = {
        "text": "The lamps swung.",
        "lat": 35.595,
        "lon": -117.65,
        "cell": "km10:1:2",
        "eventId": "ci1",
    }
    full, sparse = await lookout.report(**others), await lookout.report()
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
            "position": {"lat": 35.595, "lon": -117.65, "precisionKm": 10},
            "reporterTier": "SILVER",
            "eventId": "ci1",
        },
        "watch": {"watchId": watch.watch_id, "area": HERE, "category": SHAKING},
    }
    nothing = dict.fromkeys(("text", "position", "eventId"))
    assert payloads[1]["sighting"] == {**payloads[0]["sighting"], "sightingId": sparse["sightingId"], **nothing}
    for payload in payloads:
        Draft202012Validator(REPORTED.schema, validate_formats=True).validate(payload)
        assert not {REX.encode(), ADA.encode()} & {*orjson.dumps(payload).split(b'"')}


def test_the_example_of_the_type_is_what_its_schema_says_and_nothing_else() -> None:
    assert meta.is_valid(REPORTED.schema)
    validator = Draft202012Validator(REPORTED.schema, validate_formats=True)
    validator.validate(REPORTED.example)
    for part in REPORTED.example:
        assert not validator.is_valid({**REPORTED.example, part: {**REPORTED.example[part], "userId": REX}})
        for name in REPORTED.example[part]:
            less = {key: value for key, value in REPORTED.example[part].items() if key != name}
            assert not validator.is_valid({**REPORTED.example, part: less})
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
