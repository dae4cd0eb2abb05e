"""The ingest status: the graph, `/readyz` and the metrics say it alike, in whichever process."""

from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pytest

from graph.core.errors import DatabaseUnavailable
from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.ingest.status import LOOK_EVERY_S, OVERDUE_MS, IngestStatus, IngestStatusReader
from graph.domains.earthquakes.operations.metrics import measure_ingest_status
from graph.observability.metrics import Metrics
from graph.store.contract import Database
from graph.store.sqlite import open_sqlite
from graph.work.tasks import BackgroundTasks
from tests.domains.earthquakes.ingest.guarded import GuardedDatabase, failing
from tests.domains.earthquakes.ingest.ingests import NOW, Station, a_feature, an_ingest, file_of, plain_http
from tests.domains.earthquakes.ingest.test_polling import begun, polls
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer, status, week_features
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import ENTITIES
from tests.held_time import HeldTime
from tests.observability.scraping import scraped
from tests.service import Service, running, settings

NEWEST = NOW - 1_003_820  # origin time of the newest event of the real week
STATUS = """{ ingestStatus {
  polling lastSuccessAt lastError lastErrorAt failures nextAttemptAt lastChangesAt changesFailures newestEventLagSeconds
} }"""
UNKNOWN: dict[str, Any] = {
    **dict.fromkeys(("lastSuccessAt", "lastError", "lastErrorAt", "nextAttemptAt", "lastChangesAt")),
    "newestEventLagSeconds": None,
    "failures": 0,
    "changesFailures": 0,
}


@pytest.fixture
def station(station: Station) -> Station:
    station.usgs.hold(week_features()[:50])  # the newest of the week, which is all that a status tells of it
    return station


def reader(database: Database, time: HeldTime, *, polls: bool = False) -> IngestStatusReader:
    """What a process knows of the database, by default one that does not poll."""
    return IngestStatusReader(database, Catalogue(database, most_days_counted=100), time, polls=polls)


def lag_s(passed_s: int = 0) -> float:
    """The age of that event so long after `NOW`, seconds."""
    return (NOW + passed_s * 1000 - NEWEST) / 1000


async def test_polling_is_off_when_no_process_polls(station: Station, time: HeldTime) -> None:
    await begun(station, time)
    time.move(60 + OVERDUE_MS / 1000)
    assert (await reader(station.database, time).status()).state == "ok"

    time.move(0.001)
    status = await reader(station.database, time).status()

    assert (status.state, status.last_success_at, status.next_attempt_at) == ("off", NOW, None)
    assert status.newest_event == NEWEST
    assert (await reader(station.database, time, polls=True).status()).polling


async def test_a_polling_process_reports_polling_before_its_first_poll(station: Station, time: HeldTime) -> None:
    status = await reader(station.database, time, polls=True).status()

    assert status == IngestStatus(as_of=NOW, polling=True)
    assert (status.state, status.newest_event_lag_seconds) == ("ok", None)


async def test_a_future_event_is_not_the_newest_event(station: Station, time: HeldTime) -> None:
    given = [a_feature("us1", time=NOW - 90_000), a_feature("us2", time=NOW + 86_400_000)]
    await station.ingest.file(file_of(given))

    assert (await reader(station.database, time).status()).newest_event == NOW - 90_000

    time.move(86_400)
    assert (await reader(station.database, time).status()).newest_event_lag_seconds == 0


# What a process looks at by itself


@pytest.mark.parametrize(
    "error", [DatabaseUnavailable("the disk is full"), RuntimeError("a defect")], ids=["store", "defect"]
)
async def test_the_last_status_is_kept_while_the_store_is_unreachable(
    station: Station, time: HeldTime, error: Exception
) -> None:
    away = False
    known = reader(GuardedDatabase(station.database, failing(error, when=lambda name, about: away)), time)
    async with BackgroundTasks() as tasks:
        tasks.start("reading the ingest status", partial(known.read_forever, time.sleep))
        await time.all_asleep()
        assert known.known == IngestStatus(as_of=NOW, polling=False)
        await station.ingest.file(file_of([a_feature("us1", time=NOW)]))

        away = True
        time.move(LOOK_EVERY_S)
        await time.all_asleep()
        assert known.known == IngestStatus(as_of=time.now, polling=False)

        away = False
        time.move(LOOK_EVERY_S)
        await time.all_asleep()
        assert known.known == IngestStatus(as_of=time.now, polling=False, newest_event=NOW)
        time.move(5)
        later = known.known
        assert later
        assert later.newest_event_lag_seconds == 2 * LOOK_EVERY_S + 5


async def test_metrics_are_answered_without_reading_the_store(station: Station, time: HeldTime) -> None:
    metrics, database = Metrics(), WatchedDatabase(station.database)
    known = reader(database, time)
    measure_ingest_status(known, metrics)

    def metric_values() -> list[float | None]:
        metrics.sample()
        names = ("poll_last_success_timestamp_seconds", "poll_failures", "newest_event_lag_seconds")
        return [metrics.registry.get_sample_value(f"quakegraph_{name}") for name in names]

    assert metric_values() == [0, 0, inf]
    async with polls(station, time):
        await time.all_asleep()
        await known.status()
        station.usgs.answer_next(status(503))
        time.move(60)
        await time.all_asleep()
        database.calls.clear()
        assert metric_values() == [NOW / 1000, 0, lag_s(60)]
        assert database.calls == []
        await known.status()
        assert metric_values() == [NOW / 1000, 1, lag_s(60)]


# As a service tells it


def ready(service: Service) -> dict[str, Any]:
    answer = service.http.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    polling: dict[str, Any] = answer.json()["polling"]
    return polling


async def test_a_service_that_does_not_poll_reports_the_polling_of_another(
    tmp_path: Path, usgs: UsgsServer, time: HeldTime
) -> None:
    file = tmp_path / "shared.db"

    def known(**values: Any) -> dict[str, Any]:
        return {**UNKNOWN, "polling": True, **values}

    with running(settings(file, usgs), clock=time) as service:
        assert service.ask(STATUS) == {"ingestStatus": known(polling=False)}
        assert ready(service)["status"] == "off"
        async with (
            open_sqlite(file, ENTITIES, clock=time) as database,
            plain_http() as http,
            polls(Station(database, usgs, an_ingest(database, http, usgs.url, [], time), http, time), time),
        ):
            await time.all_asleep()
            assert service.ask(STATUS)["ingestStatus"] == known(
                lastSuccessAt=rfc3339_of_millis(NOW),
                nextAttemptAt=rfc3339_of_millis(NOW + 60_000),
                newestEventLagSeconds=lag_s(),
            )

            usgs.answer_next(status(503))
            time.move(60)
            await time.all_asleep()
            failed, error = NOW + 60_000, "UPSTREAM_UNAVAILABLE"
            assert ready(service) == {
                "status": "warning",
                "last_success": NOW,
                "last_error": error,
                "last_error_at": failed,
                "failures": 1,
                "next_attempt": failed + 120_000,
                "newest_event_lag_seconds": lag_s(60),
                "last_changes": None,
                "changes_failures": 0,
            }
            scrape = scraped(service.url)
            assert scrape.value("quakegraph_poll_last_success_timestamp_seconds") == NOW / 1000
            assert scrape.value("quakegraph_poll_failures") == 1
            assert scrape.value("quakegraph_newest_event_lag_seconds") == lag_s(60)

            time.move(120)
            await time.all_asleep()
            about_the_error = {"lastError": error, "lastErrorAt": rfc3339_of_millis(failed)}
            assert service.ask(STATUS)["ingestStatus"] == known(
                **about_the_error,
                lastSuccessAt=rfc3339_of_millis(time.now),
                nextAttemptAt=rfc3339_of_millis(time.now + 60_000),
                newestEventLagSeconds=lag_s(180),
            )
            assert ready(service)["status"] == "ok"


def test_a_polling_service_reports_polling(tmp_path: Path, usgs: UsgsServer) -> None:
    usgs.answer_next(*[status(503)] * 3)
    with running(settings(tmp_path / "own.db", usgs, poll=60)) as service:
        assert service.ask("{ ingestStatus { polling } }") == {"ingestStatus": {"polling": True}}
        assert ready(service)["status"] != "off"
