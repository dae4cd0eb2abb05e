"""Ingests from a real HTTP server that holds the real week, and what they leave in the catalogue."""

from collections.abc import AsyncIterator
from hashlib import sha256 as sha256_of
from typing import Any

import pytest
from strawberry.utils.await_maybe import await_maybe

from graph.core.paging import PageSizes, Paging
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import EVENTS
from graph.domains.earthquakes.selection import Selection
from graph.domains.earthquakes.usgs.requests import RecentEvents, UsgsFeed
from graph.store.contract import Database
from tests.domains.earthquakes.builders import at, catalogue_of, ids
from tests.domains.earthquakes.ingest.ingests import (
    NOW,
    Station,
    a_feature,
    counts,
    events_in,
    file_of,
    recounted,
    summaries_in,
)
from tests.domains.earthquakes.usgs.usgs_server import (
    FDSN_QUERY,
    collection,
    cut_connection,
    cut_json,
    html,
    redirect,
    status,
    week,
    week_features,
)
from tests.domains.entities import everything_in

THE_WEEK = RecentEvents(feed=UsgsFeed.ALL_WEEK)


def sha256(content: bytes | memoryview) -> str:
    """As the reports write it."""
    return sha256_of(content).hexdigest()


# The real week


async def test_the_real_week_is_stored_once_and_counted_exactly(station: Station) -> None:
    first = await station.ingest.recent(THE_WEEK)
    again = await station.ingest.recent(THE_WEEK)

    assert counts(first) == (2124, 2124, 0, 0)
    assert counts(again) == (2124, 0, 2124, 0)
    assert (first.upstream_size, first.upstream_hash) == (1_502_447, sha256(week()))
    assert (first.retries, first.rejections, first.latency_ms) == (0, [], 0)

    catalogue = catalogue_of(station.database)
    first_of_august = Selection(start_ms=at("2023-08-01"), end_ms=at("2023-08-02") - 1)
    totals = {
        "all": await catalogue.total(Selection()),
        "M≥4.5": await catalogue.total(Selection(magnitudes=MagnitudeRange(4.5))),
        "M≥2.5": await catalogue.total(Selection(magnitudes=MagnitudeRange(2.5))),
        "2023-08-01": await catalogue.total(first_of_august),
    }
    assert totals == {"all": 2124, "M≥4.5": 81, "M≥2.5": 253, "2023-08-01": 380}
    assert await summaries_in(station.database) == await recounted(station.database)


async def test_the_real_week_is_walked_in_order_of_time_in_both_directions(station: Station) -> None:
    await station.ingest.recent(THE_WEEK)
    catalogue = catalogue_of(station.database)

    forward = [page async for page in pages_of_25(catalogue, backward=False)]
    backward = [page async for page in pages_of_25(catalogue, backward=True)]

    walked = [event for page in forward for event in page]
    times = [event.event_ts_ms for event in walked]
    assert times == sorted(times, reverse=True)
    assert sorted(ids(walked)) == sorted(feature["id"] for feature in week_features())
    assert [event for page in reversed(backward) for event in page] == walked
    assert [len(page) for page in forward] == [25] * 84 + [24]
    assert [len(page) for page in backward] == [25] * 84 + [24]


async def pages_of_25(catalogue: Catalogue, *, backward: bool) -> AsyncIterator[list[Any]]:
    """The pages of all events, as a client turns them."""
    cursor, more = None, True
    while more:
        sizes: dict[str, Any] = {"last": 25, "before": cursor} if backward else {"first": 25, "after": cursor}
        page = await catalogue.page(Selection(), Paging.of(EVENTS, PageSizes(), **sizes))
        yield list(page.records)
        more = await await_maybe(page.has_previous if backward else page.has_next)
        cursor = page.records[0 if backward else -1].position.cursor


async def test_an_event_is_stored_as_the_documented_item(station: Station) -> None:
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


# Other answers of USGS


@pytest.mark.parametrize(
    ("asked", "requested", "stored"),
    [
        (RecentEvents(), f"{FDSN_QUERY}?format=geojson&orderby=time&limit=100", 100),
        (RecentEvents(limit=3), f"{FDSN_QUERY}?format=geojson&orderby=time&limit=3", 3),
        (RecentEvents(feed=UsgsFeed.M4_5_WEEK), "/earthquakes/feed/v1.0/summary/4.5_week.geojson?", 81),
        (
            RecentEvents(start_ms=at("2023-08-01"), end_ms=at("2023-08-02") - 1, min_magnitude=2.5),
            f"{FDSN_QUERY}?format=geojson&orderby=time&limit=20000&starttime=2023-08-01T00%3A00%3A00.000Z"
            "&endtime=2023-08-01T23%3A59%3A59.999Z&minmagnitude=2.5",
            42,
        ),
    ],
)
async def test_requested_events_are_stored(station: Station, asked: RecentEvents, requested: str, stored: int) -> None:
    report = await station.ingest.recent(asked)

    (received,) = station.usgs.requests
    assert f"{received.path}?{received.query}" == requested
    assert counts(report) == (stored, stored, 0, 0)
    assert len(await events_in(station.database)) == stored


@pytest.mark.parametrize(
    ("answers", "pauses"),
    [
        pytest.param([status(429, retry_after="7")], [7.0], id="429 with Retry-After"),
        pytest.param([status(500)], [0.5], id="500"),
        pytest.param([html()], [0.5], id="HTML with status 200"),
        pytest.param([cut_json()], [0.5], id="truncated JSON"),
        pytest.param([cut_connection], [0.5], id="connection cut"),
        pytest.param([status(503), html(), cut_json()], [0.5, 1.0, 2.0], id="three troubles"),
        pytest.param([redirect(f"{FDSN_QUERY}?format=geojson&limit=100")], [], id="redirect"),
    ],
)
async def test_temporary_failures_cost_an_ingest_only_retries(
    station: Station, answers: list[Any], pauses: list[float]
) -> None:
    station.usgs.answer_next(*answers)

    report = await station.ingest.recent(RecentEvents())

    assert (counts(report), report.retries) == ((100, 100, 0, 0), len(pauses))
    assert report.upstream_hash == sha256(collection(week_features()[:100]).body)
    assert station.pauses == pauses


# One event, several times


async def test_an_event_twice_in_one_payload_is_stored_as_it_came_first(station: Station) -> None:
    features = [a_feature("us1", mag=5.0), a_feature("us2", mag=1.0), a_feature("us1", mag=6.0), a_feature("us1")]
    station.usgs.answer_next(collection(features))

    report = await station.ingest.recent(RecentEvents())

    assert counts(report) == (4, 2, 2, 0)
    assert magnitudes(await events_in(station.database)) == {"us1": 5.0, "us2": 1.0}
    assert await summaries_in(station.database) == await recounted(station.database)


async def test_a_valid_repetition_of_a_rejected_event_is_stored(station: Station) -> None:
    report = await station.ingest.file(file_of([a_feature("us1", mag=None), a_feature("us1", mag=2.0)]))

    assert counts(report) == (2, 1, 0, 1)
    assert magnitudes(await events_in(station.database)) == {"us1": 2.0}


async def test_a_later_ingest_takes_an_event_once_it_has_a_magnitude(station: Station) -> None:
    station.usgs.answer_next(collection([a_feature("us1", mag=None)]), collection([a_feature("us1", mag=3.1)]))

    early = await station.ingest.recent(RecentEvents())
    late = await station.ingest.recent(RecentEvents())

    assert (counts(early), [each.code for each in early.rejections]) == ((1, 0, 0, 1), ["MAGNITUDE_MISSING"])
    assert counts(late) == (1, 1, 0, 0)
    assert magnitudes(await events_in(station.database)) == {"us1": 3.1}


def magnitudes(events: dict[str, Any]) -> dict[str, float]:
    return {event_id: item["mag"] for event_id, item in events.items()}


async def everything(database: Database) -> list[Any]:
    """All items but the request logs and their counts."""
    items = await everything_in(database)
    return sorted([item for item in items if item["entity"] not in ("LOG", "LOG_COUNT")], key=repr)
