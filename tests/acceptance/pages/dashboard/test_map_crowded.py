"""The map where there are more events than the page loads: numbers of areas, and the largest events over them."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from playwright.async_api import Page, Route, expect

from tests.acceptance.browser import Visit
from tests.acceptance.pages.dashboard.conftest import app_on, shown_copy
from tests.acceptance.pages.dashboard.looking import (
    GRAPH,
    document_of,
    drawn,
    items,
    on_map,
    sent,
    until,
)
from tests.acceptance.pages.dashboard.reports import TESTER, People
from tests.acceptance.pages.dashboard.subscription import store
from tests.acceptance.pages.dashboard.test_map import MAP, look, place_of, rested, view
from tests.acceptance.pages.dashboard.test_map import visit as visit
from tests.service import serving
from tests.sharing import folder_of_run, made_once

pytestmark = pytest.mark.needs("chromium")


NEWEST_MS = 1_700_000_000_000
SWARM, ISLANDS, BLASTS = 3400, 200, 10
ALL = SWARM + ISLANDS + BLASTS


def crowd() -> Iterator[dict[str, Any]]:
    """A swarm in California, some events beside the dateline, the largest of which is elsewhere, and quarry blasts."""
    rng = random.Random(20231114)

    def event(event_id: str, lat: float, lon: float, **others: Any) -> dict[str, Any]:
        time_ms = NEWEST_MS - rng.randrange(6 * 86_400_000)
        drawn = {"eventTsMs": time_ms, "mag": round(1 + rng.expovariate(2.3), 2), "place": "somewhere", "depth": 8.0}
        return {"eventId": event_id, "lat": lat, "lon": lon, "type": "earthquake"} | drawn | others

    yield event("largest", 39.0, 142.0, mag=7.4, place="Sanriku, Japan")
    for number in range(1, SWARM):
        yield event(f"swarm{number}", round(rng.gauss(36, 0.5), 3), round(rng.gauss(-118, 0.5), 3))
    for number in range(ISLANDS):
        yield event(f"island{number}", round(rng.gauss(-20, 2), 3), round((rng.gauss(180, 3) + 180) % 360 - 180, 3))
    for number in range(BLASTS):
        yield event(f"blast{number}", 39.5, -116.5, type="quarry blast")


@pytest.fixture(scope="session")
def crowded_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file that holds the crowd, to be copied."""

    def ingest(path: Path) -> None:
        events = list(crowd())
        with serving(app_on(path)) as url:
            for first in range(0, ALL, 500):
                store(url, *events[first : first + 500])

    return made_once(folder_of_run(tmp_path_factory) / "crowd.db", ingest)


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory, crowded_file: Path) -> Iterator[str]:
    """Where the crowd is shown, for tests that only look."""
    yield from shown_copy(crowded_file, tmp_path_factory.mktemp("crowd"))


@pytest.fixture
def crowded_beyond_reading(tmp_path: Path, crowded_file: Path) -> Iterator[str]:
    """Where the crowd is shown by a service that reads fewer events for statistics."""
    yield from shown_copy(crowded_file, tmp_path, max_statistics_events=1000)


async def counted(page: Page, url: str) -> None:
    """Open the page, and wait until the map has counted the whole world's events."""
    await page.goto(url)
    await expect(page.locator("#map")).to_have_attribute("data-counted", str(SWARM + ISLANDS))
    await rested(page)


async def moved(page: Page, lon: float, lat: float, zoom: float) -> None:
    """Look elsewhere, and wait until the page asks what there is."""
    async with page.expect_request(lambda request: "query View(" in document_of(request)):
        await look(page, lon, lat, zoom)


async def clusters(page: Page) -> list[int]:
    """The numbers of events of the areas."""
    found: list[int] = await page.evaluate(
        f"{MAP}.getSource('clusters').serialize().data.features.map(({{ properties }}) => properties.count)"
    )
    return found


async def test_the_numbers_of_areas_are_those_of_the_service_and_a_click_leads_to_their_events(
    page: Page, crowded: str
) -> None:
    """The largest events show over the numbers; where there are few, all are drawn, also across the dateline."""
    views = sent(page, "View(")
    await counted(page, f"{crowded}/?colour=depth")

    assert [view["filter"] for view in views] == [{"startTime": ANY}]  # the view has the whole world
    assert sum(await clusters(page)) == SWARM + ISLANDS
    shown = await on_map(page)
    largest = sorted((event["mag"] for event in crowd()), reverse=True)[:200]
    assert sorted((event["mag"] for event in shown.values()), reverse=True) == largest
    assert "largest" in shown
    await expect(page.locator("#map-caption")).to_have_text(
        "3,610 events; the largest of magnitude 7.4, Sanriku, Japan. "
        "Shown one by one are the largest 200 of this view; "
        "the numbers count the earthquakes of each area."
    )
    await expect(page.get_by_role("list", name="Number")).to_contain_text("earthquakes of an area")
    layers = await page.evaluate(f"{MAP}.getStyle().layers.map(({{ id }}) => id)")
    assert layers.index("clusters") < layers.index("events") < layers.index("cluster-counts")

    [lon, lat] = await page.evaluate(
        f"""() => {{
          const {{ features }} = {MAP}.getSource("clusters").serialize().data;
          return features.find(({{ properties }}) => properties.count === {SWARM - 1}).geometry.coordinates;
        }}"""
    )
    assert (lon, lat) == (pytest.approx(-118, abs=2), pytest.approx(36, abs=2))  # where its events are
    at = await page.evaluate(f"place => {MAP}.project(place)", [lon, lat])
    edge = await page.evaluate(f"at => {MAP}.unproject([at.x + 26, at.y - 3])", at)
    before = await view(page)
    await page.mouse.click(*await place_of(page, edge["lng"], edge["lat"]))
    await until(page, f"zoom => {MAP}.getZoom() > zoom + 1.9 && !{MAP}.isMoving()", before["zoom"])
    after = await view(page)
    assert after["lon"] % 360 == pytest.approx(lon % 360, abs=1)
    assert after["lat"] == pytest.approx(lat, abs=1)

    await moved(page, -118, 36, 5)
    count = "query ($filter: EventFilter) { catalogueStatistics(filter: $filter) { count } }"
    near = People(crowded).ask(TESTER, count, filter=views[-1]["filter"])["catalogueStatistics"]["count"]
    assert 2000 < near < SWARM
    await expect(page.locator("#map")).to_have_attribute("data-counted", str(near))
    assert sum(await clusters(page)) == near

    await moved(page, 180, -20, 4)
    await expect(page.locator("#map")).to_have_attribute("data-counted", "0")
    islands = {event["eventId"] for event in crowd() if event["eventId"].startswith("island")}
    assert islands <= set(await on_map(page))
    assert views[-1]["filter"]["box"]["minLon"] > 0 > views[-1]["filter"]["box"]["maxLon"]
    assert not await clusters(page)


async def test_more_events_than_the_service_reads_are_counted_by_wide_cells(
    crowded_beyond_reading: str, page: Page
) -> None:
    await counted(page, crowded_beyond_reading)

    assert sum(await clusters(page)) == SWARM + ISLANDS
    assert SWARM - 1 in await clusters(page)
    greatest = f"{MAP}.getSource('clusters').serialize().data.features.map(({{ properties }}) => properties.greatest)"
    assert set(await page.evaluate(greatest)) == {None}


async def test_what_cannot_be_counted_is_said_and_what_cannot_be_asked_for_until_it_can(
    page: Page, crowded: str
) -> None:
    counts = {
        "events": {"totalCount": 1_000_000},
        "catalogueStatistics": {"grid": {"cells": [], "reason": "Too many."}},
    }
    answers: list[tuple[int, dict[str, Any]]] = [(200, {"data": counts})]

    async def answer(route: Route) -> None:
        if answers and "query View(" in document_of(route.request):
            status, body = answers[0]
            await route.fulfill(status=status, json=body)
        else:
            await route.continue_()

    await page.route(GRAPH, answer)
    await page.goto(crowded)
    await expect(page.locator("#map-caption")).to_have_text(
        "3,610 events; the largest of magnitude 7.4, Sanriku, Japan. Shown are the largest 200 of this view. "
        "The others cannot be counted by area: Too many."
    )
    assert len(await on_map(page)) == 200
    await expect(page.locator("#map")).to_have_attribute("data-counted", "0")

    answers[:] = [(503, {"errors": [{"message": "No views."}]})]
    await look(page, -118, 36, 4)
    await expect(page.get_by_role("alert")).to_contain_text("No views.")

    answers.clear()
    await look(page, -100, 36, 2)
    await expect(page.get_by_role("alert")).not_to_contain_text("No views.")
    await expect(page.locator("#map")).not_to_have_attribute("data-counted", "0")


async def test_no_caption_calls_a_part_the_whole(crowded: str, module_visit: Visit) -> None:
    """The page loads the 3,000 largest events."""
    page = module_visit.page
    await page.goto(f"{crowded}/?period=all&sort=largest")

    await expect(page.locator("#list .caption")).to_contain_text("of 3,610")
    await expect(page.locator("#summary")).to_have_text("3,610 events. The largest: M 7.4, Sanriku, Japan.")
    await drawn(page, 3000)
    assert (await items(page))[0] == "largest"
    found = await page.evaluate("document.querySelector('main').shown.events.map(({ mag }) => mag)")
    assert sorted(found) == sorted(event["mag"] for event in crowd())[-3000:]
    await expect(page.locator("#map")).to_have_attribute("data-drawn", "200")
    await expect(page.locator("#map-caption")).to_contain_text("3,610 events; the largest of magnitude 7.4")
    await expect(page.locator("#magnitude-time-caption")).to_contain_text("The 3,000 largest of 3,610 events")
    await expect(page.locator("#event-rates-caption")).to_contain_text("3,600 earthquakes")
    await expect(page.locator("#magnitude-frequency-caption")).to_contain_text("3,600 earthquakes")
