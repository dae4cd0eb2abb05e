"""The table `blip`, its items and its access patterns are those of document 002, to any client of DynamoDB."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.times import rfc3339, utc_time
from graph.domains.area_watches.entities import AREA_WATCH
from graph.domains.sightings.entities import BLIP, SIGHTING
from graph.domains.sightings.iso import iso_of, written
from graph.domains.sightings.reading import HOUR_S
from graph.store.contract import Put
from graph.store.design import table_name
from tests.domains.data_files.followed import RawTable
from tests.domains.entities import ENTITIES, documented
from tests.domains.sightings.in_store import ANNA, BEN, CARA, NOON_S, SightingStore, held_clock, sightings_of
from tests.other_programs import client
from tests.store.engines import make_tables, open_dynamodb

HERE: dict[str, Any] = {"lat": 35.84321, "lon": -117.61234}  # some kilometres from the middle of its cell
WATCH_ID = "0190a6a0-0000-7000-8000-000000000001"


@pytest.fixture
def raw(dynamodb_endpoint: str) -> RawTable:
    del dynamodb_endpoint  # it has set AWS's configuration
    return RawTable(BLIP, make_tables(ENTITIES))


@asynccontextmanager
async def stored(raw: RawTable) -> AsyncIterator[SightingStore]:
    """The service's own view of the table."""
    clock = held_clock()
    prefix = raw.name.removesuffix(BLIP.name)
    async with open_dynamodb(ENTITIES, prefix=prefix, clock=clock) as database, sightings_of(database, clock) as ours:
        yield ours


async def test_sightings_profiles_and_watches_stand_under_their_documented_keys(raw: RawTable) -> None:
    watch = {"watchId": WATCH_ID, "userId": ANNA, "category": "FIRE", "since": 1, "createdAt": 1000 * NOON_S}
    async with stored(raw) as ours:
        first = await ours.new(text="a wall fell")
        ours.later(61)
        second = await ours.new(BEN, "FIRE", area="downtown", **HERE)
        await ours.confirm(CARA, second)
        await ours.new(CARA, area="Harbour")
        for area in ("downtown", "harbour"):
            await ours.database.put(Put(AREA_WATCH, {**watch, "areaSlug": area}))

    found = raw.query("PK = :area AND begins_with(SK, :prefix)", area="AREA#downtown", prefix="SIGHTING#")
    assert [item["SK"] for item in found] == [
        f"SIGHTING#2100-03-02T12:00:00Z#{first.sighting_id}",
        f"SIGHTING#2100-03-02T12:01:01Z#{second.sighting_id}",
    ]
    assert found[0] == documented(SIGHTING, first.item)
    assert found[0] == {
        "PK": "AREA#downtown",
        "SK": f"SIGHTING#2100-03-02T12:00:00Z#{first.sighting_id}",
        "GSI1PK": "CATEGORY#SHAKING",
        "GSI1SK": f"2100-03-02T12:00:00Z#{first.sighting_id}",
        "sightingId": first.sighting_id,
        "userId": ANNA,
        "areaSlug": "downtown",
        "area": "Downtown",
        "category": "SHAKING",
        "text": "a wall fell",
        "reportedAt": "2100-03-02T12:00:00Z",
        "expiresAt": NOON_S + 1800,
        "reporterTier": "BRONZE",
        "confirmationCount": 0,
        "rank": NOON_S + 1800,
        "lists": ["user:anna"],
    }
    assert found[1]["expiresAt"] == NOON_S + 1920  # 61 s later, on the next whole minute
    assert UUID(first.sighting_id).version == 7

    (profile,) = raw.query("PK = :user AND SK = :profile", user="USER#ben", profile="PROFILE")
    assert profile == {
        "PK": "USER#ben",
        "SK": "PROFILE",
        "userId": BEN,
        "reports": 1,
        "confirmationsReceived": 1,
        "streakDays": 1,
        "longestStreakDays": 1,
        "lastDay": "2100-03-02",
        "since": 1000 * (NOON_S + 61),
    }
    (confirmer,) = raw.query("PK = :user AND SK = :profile", user="USER#cara", profile="PROFILE")
    assert confirmer["confirmations"] == 1
    watches = raw.query("PK = :user AND begins_with(SK, :prefix)", user="USER#anna", prefix="WATCH#")
    assert [item["SK"] for item in watches] == [f"WATCH#{area}#FIRE#{WATCH_ID}" for area in ("downtown", "harbour")]


async def test_trending_is_a_query_of_the_index_from_a_cutoff_on(raw: RawTable) -> None:
    async with stored(raw) as ours:
        early = await ours.new(category="FIRE", area="early")
        ours.later(6 * HOUR_S + 1)
        some = [await ours.new(category="FIRE", area=f"area {number}") for number in range(3)]
        await ours.new(category="SHAKING")
        now = ours.clock() // 1000
        (trend, *_) = await ours.sightings.trends(21_600)

    cutoff = iso_of(now - 6 * HOUR_S)
    since_cutoff = "GSI1PK = :category AND GSI1SK >= :cutoff"
    found = raw.query(since_cutoff, "TrendingIndex", category="CATEGORY#FIRE", cutoff=cutoff)
    assert all(item["expiresAt"] > now for item in found)
    assert sorted(item["sightingId"] for item in found) == sorted(each.sighting_id for each in some)
    assert trend.count == len(found) == 3
    everything = raw.query("GSI1PK = :category", "TrendingIndex", category="CATEGORY#FIRE")
    assert everything[0]["sightingId"] == early.sighting_id
    for item in everything:
        assert (item["GSI1PK"], item["GSI1SK"]) == ("CATEGORY#FIRE", f"{item['reportedAt']}#{item['sightingId']}")


async def test_a_sighting_is_found_by_its_id_to_confirm_it(raw: RawTable) -> None:
    """Documented as a filter over an area; ours has a key."""
    async with stored(raw) as ours:
        sighting = await ours.new(**HERE)
        ours.later(900)
        confirmed = [(await ours.confirm(user, sighting)).sighting for user in (BEN, CARA)][-1]

    (by_id,) = raw.query("PK = :sighting AND SK = :own", sighting=f"SIGHTING#{sighting.sighting_id}", own="SIGHTING")
    assert by_id["GSI1PK"] == "RANKED#SHAKING"
    assert by_id["GSI1SK"] == f"{by_id['rank']}#{sighting.sighting_id}"
    area = f"AREA#{sighting.area_slug}"
    (filtered,) = raw.query("PK = :area AND begins_with(SK, :prefix)", area=area, prefix="SIGHTING#")
    keys = {"PK", "SK", "GSI1PK", "GSI1SK"}
    assert {name: by_id[name] for name in by_id.keys() - keys} == {
        name: filtered[name] for name in filtered.keys() - keys
    }
    assert (filtered["confirmationCount"], filtered["expiresAt"]) == (2, NOON_S + 2700)

    found = raw.query(
        "PK = :sighting AND begins_with(SK, :prefix)",
        sighting=f"SIGHTING#{sighting.sighting_id}",
        prefix="CONFIRMATION#",
    )
    assert {item["userId"] for item in found} == {BEN, CARA}
    for item in found:
        assert item == {
            "PK": f"SIGHTING#{sighting.sighting_id}",
            "SK": f"CONFIRMATION#2100-03-02T12:15:00Z#{item['nanoId']}",
            "sightingId": sighting.sighting_id,
            "confirmedAt": "2100-03-02T12:15:00Z",
            "nanoId": item["nanoId"],
            "counted": {"BOOL": True},
            "userId": item["userId"],
            "expiresAt": confirmed.item["expiresAt"],
        }
        assert re.fullmatch("[A-Za-z0-9_-]{21}", item["nanoId"])


async def test_no_item_of_the_table_has_an_exact_position(raw: RawTable) -> None:
    async with stored(raw) as ours:
        sighting = await ours.new(**HERE)
        await ours.report(BEN, lat=HERE["lat"] + 0.00005, lon=HERE["lon"])  # repeats it
        await ours.report(CARA, "FIRE", area="Downtown", **HERE)
        await ours.hide("moderator", sighting.sighting_id, "spam")

    items = client().scan(TableName=raw.name, ConsistentRead=True)["Items"]  # expired ones among them
    assert len(items) > 25
    text = json.dumps(items)
    for digits in ("35.84", "3584", "117.61", "11761"):
        assert digits not in text
    assert not re.search(r"\bkm1:|\bm10:", text)
    positions = {(float(item["lat"]["N"]), float(item["lon"]["N"])) for item in items if "lat" in item}
    assert positions == {sighting.position}
    assert sighting.position == pytest.approx((HERE["lat"], HERE["lon"]), abs=0.06)


def test_the_table_is_declared_as_the_document_does(raw: RawTable) -> None:
    assert table_name(BLIP, prefix="", environment="prod") == "blip"
    assert raw.keys() == {"": ["PK S", "SK S"], "TrendingIndex": ["GSI1PK S", "GSI1SK S"]}
    assert BLIP.ttl == "expiresAt"


@given(st.integers(0, 10**10 - 1))
def test_a_time_is_written_as_if_it_had_been_read(seconds: int) -> None:
    assert written(iso_of(seconds)) == rfc3339(utc_time(iso_of(seconds)))
