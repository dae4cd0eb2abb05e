"""The dashboard on a catalogue of years, of which it loads the largest events and has the others counted."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from playwright.async_api import expect

from tests.acceptance.browser import Visit
from tests.acceptance.pages.dashboard.conftest import app_on
from tests.acceptance.pages.dashboard.looking import drawn, items
from tests.domains.earthquakes.ingest.ingests import located
from tests.processes import quakegraph
from tests.service import serving
from tests.sharing import folder_of_run, made_once

pytestmark = pytest.mark.needs("chromium", "the web pages' packages")

EVENTS = 40_000
MOST_DRAWN = 3000
NEWEST_MS = 1_690_000_000_000
YEARS_MS = 6 * 365 * 24 * 3_600_000
GREAT = {"great1": 8.8, "great2": 8.1, "great3": 7.9}  # far apart in time


def catalogue() -> Iterator[bytes]:
    """Six years of events all over the world, a line each."""
    rng = random.Random(20230722)
    great = dict(zip((10, EVENTS // 2, EVENTS - 10), GREAT, strict=True))  # numbers of events → their ids
    for number in range(EVENTS):
        event_id = great.get(number, f"us{number}")
        mag = GREAT.get(event_id, round(min(7.5, 1 + rng.expovariate(2.3)), 2))
        feature = located(
            event_id, round(rng.uniform(-180, 180), 3), round(rng.uniform(-60, 70), 3), rng.randrange(300)
        )
        time = NEWEST_MS - YEARS_MS * number // EVENTS
        yield orjson.dumps(feature | {"properties": {"mag": mag, "place": f"near {event_id}", "time": time}})


@pytest.fixture(scope="module")
def years(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the catalogue is shown."""

    def ingest(path: Path) -> None:
        done = quakegraph("ingest", "-", "--store", f"sqlite:///{path}", stdin=b"\n".join(catalogue()))
        assert done.exit_code == 0, done.output

    file = made_once(folder_of_run(tmp_path_factory) / "years.db", ingest)
    copied = tmp_path_factory.mktemp("years") / "years.db"
    shutil.copy(file, copied)
    with serving(app_on(copied)) as url:
        yield url


async def test_all_are_counted_and_the_largest_shown(visit: Visit, years: str) -> None:
    page = visit.page
    await page.goto(f"{years}/?period=all&sort=largest")

    await expect(page.locator("#list .caption")).to_contain_text("of 40,000")
    await expect(page.locator("#summary")).to_have_text("40,000 events. The largest: M 8.8, near great1.")
    await drawn(page, MOST_DRAWN)
    assert (await items(page))[:3] == list(GREAT)
    found = await page.evaluate("document.querySelector('main').shown.events.map(({ eventId }) => eventId)")
    assert set(GREAT) <= set(found)


async def test_no_caption_calls_a_part_the_whole(visit: Visit, years: str) -> None:
    page = visit.page
    await page.goto(f"{years}/?period=all")
    await drawn(page, MOST_DRAWN)

    await expect(page.locator("#map")).to_have_attribute("data-drawn", "200")
    await expect(page.locator("#map-caption")).to_contain_text(
        "40,000 events; the largest of magnitude 8.8, near great1."
    )
    await expect(page.locator("#magnitude-time-caption")).to_contain_text("3,000")
    await expect(page.locator("#event-rates-caption")).to_contain_text("40,000")
    await expect(page.locator("#magnitude-frequency-caption")).to_contain_text("40,000")
    assert visit.complaints == []
