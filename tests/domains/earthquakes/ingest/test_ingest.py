"""Ingests from a real HTTP server that holds the real week, and what they leave in the catalogue.

Wherever one breaks off, and however many run at once: every event is there once, and counted once.
"""

import asyncio
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.days import DAY_MS, FIRST_MS
from graph.core.errors import DatabaseUnavailable
from graph.domains.earthquakes.entities import REVISION
from graph.domains.earthquakes.ingest.report import REJECTIONS_LISTED
from graph.domains.earthquakes.model import is_listed
from graph.domains.earthquakes.revisions.live import event_sequence
from graph.domains.earthquakes.usgs.requests import RecentEvents, UsgsFeed
from tests.domains.earthquakes.ingest.ingests import (
    NOW,
    Station,
    a_feature,
    a_station,
    always_now,
    an_ingest,
    counted_in,
    counts,
    events_in,
    file_of,
    located,
    logs_in,
    plain_http,
    recounted,
    summaries_in,
)
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, collection, week_features
from tests.domains.entities import connections
from tests.domains.watches.cuts import Cut, Noted, either_way


async def test_an_event_is_stored_as_the_documented_item(any_station: Station) -> None:
    station = any_station
    await station.ingest.recent(RecentEvents(feed=UsgsFeed.M4_5_WEEK))

    item = (await events_in(station.database))["us6000kxme"]
    assert item.pop("arrival") in (1, 2), "the feed takes one transaction, or two"
    assert item == {
        "pk": "EVENT#us6000kxme",
        "sk": "EVENT",
        "entity": "EVENT",
        "eventId": "us6000kxme",
        "eventTsMs": 1_691_091_231_392,
        "mag": 5.6,
        "place": "82 km SSW of Sand Point, Alaska",
        "lat": 54.6626,
        "lon": -161.0374,
        "depth": 41.47,
        "dayBucket": "20230803",
        "gsi1pk": "DAY#20230803",
        "gsi1sk": 1_691_091_231_392,
        "source": "USGS",
        "ingestedAt": NOW,
        "magType": "mww",
        "type": "earthquake",
        "status": "reviewed",
        "updated": 1_691_103_135_750,
        "url": "https://earthquake.usgs.gov/earthquakes/eventpage/us6000kxme",
        "tsunami": 1,
        "felt": 11,
        "alert": "green",
        "sig": 486,
        "sourceDepth": 41.47,
        "net": "us",
        "code": "6000kxme",
        "ids": ",at00rytycd,us6000kxme,ak0239vw210t,",
        "sources": ",at,us,ak,",
        "types": ",dyfi,ground-failure,impact-link,losspager,moment-tensor,origin,phase-data,shakemap,",
        "nst": 122,
        "dmin": 0.76,
        "rms": 1.24,
        "gap": 62,
        "cdi": 3.6,
        "mmi": 3.657,
        "title": "M 5.6 - 82 km SSW of Sand Point, Alaska",
        "detail": "https://earthquake.usgs.gov/earthquakes/feed/v1.0/detail/us6000kxme.geojson",
        "revision": 1,
        "recordedAt": NOW,
        "publishedAt": 1_691_103_135_750,
        "hash": "8008c91b7fa65462",  # pragma: allowlist secret
    }


# Many events of a file


async def test_a_file_is_stored_and_its_progress_reported_a_thousand_events_at_a_time(station: Station) -> None:
    """A later duplicate is skipped, even of an event that was stored with the thousand before."""
    first = [a_feature(f"us{n}", mag=1.0) for n in range(1600)]
    content = file_of([*first, *(a_feature(f"us{n}", mag=2.0) for n in range(900))]).getvalue()
    told: list[tuple[int, int]] = []

    report = await station.ingest.file(BytesIO(content), lambda now: told.append((now.fetched, now.upstream_size or 0)))

    assert [fetched for fetched, _ in told] == [1000, 2000, 2500]
    sizes = [size for _, size in told]
    assert sizes == sorted(sizes)
    assert (0 < sizes[0] < len(content), sizes[-1]) == (True, len(content))
    assert (report.upstream_size, report.upstream_hash) == (len(content), sha256(content).hexdigest())
    assert counts(report) == (2500, 1600, 900, 0)
    assert {event["mag"] for event in (await events_in(station.database)).values()} == {1.0}
    assert await summaries_in(station.database) == await recounted(station.database)


async def test_events_are_looked_up_first_until_all_are_new_and_again_once_one_is_not(station: Station) -> None:
    features, noted = [a_feature(f"us{n}") for n in range(4999)], Noted(station.database)

    await station.ingest_into(noted).file(file_of([*features[:2500], features[0], *features[2500:]]))

    by_alias = deleted = 1000
    readable = 1  # of the event that is stored, whether a reader finds it
    assert [len(keys) for method, keys in noted.noted if method == "get_many"] == [
        *(1000, by_alias, deleted),  # the first thousand
        *(by_alias, deleted, by_alias, readable, deleted - 1, 1),  # the third shows that one of its events is stored
        *(1000, by_alias, deleted, 1000, by_alias, deleted),
    ]
    assert await summaries_in(station.database) == await recounted(station.database)


async def test_a_deletion_after_many_new_events_is_applied(station: Station) -> None:
    """Events that are probably new are not looked up first. A deletion is, since no insert finds its event."""
    features = [a_feature(f"us{n}", updated=NOW) for n in range(1000)]

    report = await station.ingest.file(file_of([*features, a_feature("us7", status="deleted", updated=NOW + 1)]))

    assert (report.upserted, report.revised, report.deleted, report.skipped) == (1000, 1, 1, 0)
    assert not is_listed((await events_in(station.database))["us7"])


# Features of every shape. The rules of values have tests of their own


NOTHING = object()  # for an attribute that must be absent
# Feature → what of its item the rules decide.
STORED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (a_feature("magnitude-above", mag=10.7), {"mag": 10.0}),
    (located("depth-negative", -117.6, 35.6, -1.27), {"depth": 0.0}),
    (located("depth-null", -117.6, 35.6, None), {"depth": NOTHING}),
    (located("depth-missing", -117.6, 35.6), {"depth": NOTHING}),
    (located("coordinates-four", -117.6, 35.6, 8.0, 9.0), {"lon": -117.6, "lat": 35.6, "depth": 8.0}),
    (located("coordinates-at-the-edges", -180, 90, 0.0), {"lon": -180.0, "lat": 90.0, "depth": 0.0}),
    (located("coordinates-tiny", 1e-300, -1e-300, 1e-200), {"lon": 0.0, "lat": 0.0, "depth": 0.0}),
    (a_feature("place-513", place="🌋" * 513), {"place": "🌋" * 512}),
    (a_feature("time-before-1970", time=-1), {"eventTsMs": -1, "gsi1pk": "DAY#19691231", "gsi1sk": -1}),
    (a_feature("geometry-null", mag=2.0), {"mag": 2.0}),  # which was rejected before
]

# Feature → the id and code of its rejection.
REJECTED: list[tuple[Any, str | None, str]] = [
    ({"type": "Feature", "properties": a_feature()["properties"]}, None, "ID_MISSING"),
    (a_feature("geometry-null") | {"geometry": None}, "geometry-null", "COORDINATES_INVALID"),
    (a_feature("geometry-text") | {"geometry": "here"}, "geometry-text", "COORDINATES_INVALID"),
    (a_feature("coordinates-text") | {"geometry": {"coordinates": "1,2"}}, "coordinates-text", "COORDINATES_INVALID"),
    (located("longitude-alone", -117.6), "longitude-alone", "COORDINATES_INVALID"),
    (a_feature("properties-null") | {"properties": None}, "properties-null", "TIME_INVALID"),
    (a_feature("properties-list") | {"properties": []}, "properties-list", "TIME_INVALID"),
    (None, None, "FEATURE_UNREADABLE"),
    ([a_feature()], None, "FEATURE_UNREADABLE"),
]


async def test_each_feature_is_stored_or_rejected_by_its_own_rule(any_station: Station) -> None:
    station = any_station
    mixed = [feature for feature, _ in STORED]
    for place, (feature, _, _) in enumerate(REJECTED):
        mixed.insert(2 * place, feature)
    station.usgs.answer_next(collection([*mixed, a_feature("magnitude-above", mag=1.0)]))

    report = await station.ingest.recent(RecentEvents())

    items = await events_in(station.database)
    assert {
        feature["id"]: {name: items[feature["id"]].get(name, NOTHING) for name in rules} for feature, rules in STORED
    } == {feature["id"]: rules for feature, rules in STORED}
    assert [(told.index, told.event_id, told.code.value) for told in report.rejections] == [
        (2 * place, id_, code) for place, (_, id_, code) in enumerate(REJECTED)
    ]
    assert (report.fetched, report.upserted, report.skipped) == (len(mixed) + 1, len(STORED), 1)
    assert len(items) == len(STORED)
    assert await summaries_in(station.database) == await recounted(station.database)


async def test_all_rejections_are_counted_and_the_first_thousand_listed(station: Station) -> None:
    report = await station.ingest.file(file_of(a_feature(f"us{n}", mag=None if n else 1.0) for n in range(1003)))

    assert (report.fetched, report.rejected, list(await events_in(station.database))) == (1003, 1002, ["us0"])
    assert [(told.index, told.event_id) for told in report.rejections] == [
        (n, f"us{n}") for n in range(1, REJECTIONS_LISTED + 1)
    ]


# Anything at all

WHOLE = st.integers(-(2**63) + 1, 2**63 - 1)  # that the parser of collections takes
anything = st.recursive(
    st.none() | st.booleans() | WHOLE | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(max_size=8), values, max_size=4),
    max_leaves=8,
)
nearly_features = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["us1", "us2", "us3", "ci4", "", "i" * 65]) | anything,
        "properties": st.fixed_dictionaries(
            {
                "time": st.sampled_from([NOW, NOW - DAY_MS, -1, FIRST_MS]) | anything,
                "mag": st.floats(-12, 12) | st.integers(-12, 12) | anything,
            },
            optional=dict.fromkeys(("place", "updated", "url", "tsunami", "felt", "alert", "sig"), anything),
        )
        | anything,
        "geometry": st.fixed_dictionaries(
            {
                "coordinates": st.tuples(st.floats(-190, 190), st.floats(-95, 95), st.none() | st.floats(-10, 700))
                | anything
            }
        )
        | anything,
    }
)


@A_FEW
@given(features=st.lists(nearly_features | anything, max_size=30), data=st.data())
async def test_whatever_the_features_are_each_is_counted_once(
    usgs: UsgsServer, features: list[Any], data: st.DataObject
) -> None:
    features += data.draw(st.lists(st.sampled_from(features), max_size=5)) if features else []
    async with a_station("sqlite", usgs) as station:
        first = await station.ingest.file(file_of(features))
        again = await station.ingest.file(file_of(features))

        assert first.fetched == first.upserted + first.skipped + first.rejected == len(features)
        assert len(await events_in(station.database)) == first.upserted
        assert (again.upserted, again.skipped) == (0, first.upserted + first.skipped)
        assert again.rejections == first.rejections
        assert await summaries_in(station.database) == await recounted(station.database)


EVENTS = 90
EARLIER = 30  # of them before, in an earlier version


def many_days(*, updated: int) -> list[dict[str, Any]]:
    """Events of many days: half of those that are stored move to the day before, and all get another magnitude."""
    return [
        a_feature(
            f"us{n:02}",
            mag=n % 7 + updated,
            time=NOW - (n % 15 + (n % 2 and updated - 1)) * DAY_MS,
            updated=updated,
            ids=f",us{n:02},ci{n:02},",
        )
        for n in range(EVENTS)
    ]


@either_way
async def test_an_ingest_that_breaks_off_leaves_nothing_uncounted_and_is_finished_by_the_next(
    any_station: Station, way: str
) -> None:
    """Its transactions are small. One is refused, or applied and nobody hears of it."""
    station = any_station
    cut = Cut(station.database, way)
    doomed, stored = station.ingest_into(cut), EARLIER
    await station.ingest.file(file_of(many_days(updated=1)[:EARLIER]))
    for calls in (4, 5, 8):
        cut.left = calls
        with pytest.raises(DatabaseUnavailable):
            await doomed.file(file_of(many_days(updated=2)))
        for log in await logs_in(station.database):
            assert log["fetched"] == log["upserted"] + log["revised"] + log["skipped"]
        events = await events_in(station.database)
        assert stored <= len(events) < EVENTS
        stored = len(events)
        assert await counted_in(station.database) == await recounted(station.database)

    cut.left = 0
    report = await doomed.file(file_of(many_days(updated=2)))

    assert (report.fetched, report.upserted) == (EVENTS, EVENTS - stored)
    events = await events_in(station.database)
    assert {name: (item["mag"], item["revision"]) for name, item in events.items()} == {
        f"us{n:02}": (n % 7 + 2, 2 if n < EARLIER else 1) for n in range(EVENTS)
    }
    assert len([item async for item in station.database.scan(REVISION)]) == EARLIER
    assert await counted_in(station.database) == await recounted(station.database)


# Several at once


async def test_ingests_of_the_same_events_at_once_lose_nothing_and_count_each_insert_once(
    engine: str, usgs: UsgsServer, tmp_path: Path
) -> None:
    """Each has a connection of its own, as several processes have."""
    usgs.forget()
    features, ingests = week_features()[::16], 4
    usgs.hold(features)
    async with connections(engine, tmp_path, ingests, always_now) as databases, plain_http() as http:
        at_once = [
            an_ingest(each, http, usgs.url, []).recent(RecentEvents(feed=UsgsFeed.ALL_WEEK)) for each in databases
        ]
        reports = await asyncio.gather(*at_once)

        assert [report.fetched for report in reports] == [len(features)] * ingests
        assert [report.upserted + report.skipped for report in reports] == [len(features)] * ingests
        assert sum(report.upserted for report in reports) == len(features)
        assert (await events_in(databases[0])).keys() == {feature["id"] for feature in features}
        assert await counted_in(databases[0]) == await recounted(databases[0])
        changes = await event_sequence(databases[0]).since(0, 10_000)
        assert [change.number for change in changes] == list(range(1, len(changes) + 1))
