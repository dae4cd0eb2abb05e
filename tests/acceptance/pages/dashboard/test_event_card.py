"""The card of an event in Chromium, put by itself on a page that is not the dashboard."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from playwright.async_api import Page, ViewportSize, expect

from tests.acceptance.browser import VIEWPORT, Visit, without_complaints
from tests.acceptance.pages.dashboard.conftest import Opener
from tests.acceptance.pages.dashboard.looking import (
    document_of,
    fits,
    sent,
)
from tests.acceptance.pages.dashboard.plotting import FRAMES
from tests.acceptance.pages.dashboard.subscription import an_event

JAVA = "us6000kxp7"
BRIG = an_event("us1", url="https://earthquake.usgs.gov/earthquakes/eventpage/us1")

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture
def page(module_visit: Visit) -> Iterator[Page]:
    """The page of all tests here, on which each puts a card of its own."""
    yield from without_complaints(module_visit)


def at(x: float, y: float, width: float = 20, height: float = 20) -> dict[str, float]:
    """What was clicked."""
    return {"x": x, "y": y, "width": width, "height": height}


async def opened_card(
    page: Page, url: str, event: dict[str, Any], anchor: dict[str, float] | None, window: ViewportSize = VIEWPORT
) -> None:
    """Open the card beside an anchor, by a button that gets the focus back. The page remembers it as `card`."""
    if page.viewport_size != window:
        await page.set_viewport_size(window)
        await page.evaluate(FRAMES)
    if page.url != f"{url}/events/{JAVA}":
        await page.goto(f"{url}/events/{JAVA}")
        await expect(page.locator("#connection")).to_have_text("Live")
    await page.evaluate(
        """async ([event, anchor]) => {
          const from = document.querySelector("script[type=module]").src.replace("event_page", "event_card");
          const { eventCard } = await import(from);
          globalThis.card ??= eventCard({ onClose: eventId => left.push(eventId) });
          globalThis.left = [];
          globalThis.shifts ??= [];
          new PerformanceObserver(list => shifts.push(...list.getEntries().map(({ value }) => value)))
            .observe({ type: "layout-shift" });
          const button = document.querySelector(".actions button");
          button.focus();
          card.open(event, anchor, { restoreFocusTo: button });
        }""",
        [event, anchor],
    )


async def box_of(page: Page) -> dict[str, float]:
    box: dict[str, float] = await page.get_by_role("dialog").evaluate(
        "card => (({ left, top, right, bottom }) => ({ left, top, right, bottom }))(card.getBoundingClientRect())"
    )
    return box


async def test_it_says_what_the_list_says_and_what_the_event_did(page: Page, shared: str) -> None:
    java = an_event(JAVA, place="Java, Indonesia", mag=5.5, lon=113.1466, lat=-6.1198, depth=578.001)
    await opened_card(page, shared, java, at(100, 200))

    card = page.get_by_role("dialog", name="M 5.5 earthquake, Java, Indonesia")
    await expect(card).to_be_focused()
    await expect(card.get_by_role("term")).to_have_text(
        [
            *("Time", "At the epicentre", "Depth", "Coordinates"),
            *("Intensity, by ShakeMap", "PAGER alert", "Tsunami", "Id"),
        ]
    )
    await expect(card.get_by_role("definition")).to_have_text(
        [
            "2023-08-04 03:00:00 UTC",
            "2023-08-04 11:00:00 UTC+8, nautical time zone",
            "578.0 km (359.2 mi)",
            "6.12° S 113.15° E",
            "I (1.0), not felt",
            "green: no damage or casualties expected",
            "no tsunami message",
            JAVA,
        ]
    )
    await expect(card.locator(".badge")).to_have_text("Magnitude 5.5 mww")
    await card.get_by_role("link", name="Details").click()
    await expect(page).to_have_url(f"{shared}/events/{JAVA}")


async def test_it_is_beside_what_was_clicked_and_within_the_window(page: Page, shared: str) -> None:
    """Below or above what is as wide as the page, and on a telephone a sheet at the bottom."""
    for x, y, side in (
        (100, 200, "right"),
        (1100, 200, "left"),
        (100, 880, "right"),
        (1380, 890, "left"),
        (0, 0, "right"),
    ):
        await opened_card(page, shared, BRIG, at(x, y))
        box = await box_of(page)
        assert box["left"] == x + 32 if side == "right" else box["right"] == x - 12
        assert 8 <= box["top"] < box["bottom"] <= 892

    await opened_card(page, shared, BRIG, at(0, 0, 1, 1), {"width": 700, "height": 420})
    for x, y in product((0, 340, 690), (0, 200, 415)):
        await page.evaluate("([event, box]) => card.open(event, box)", [BRIG, at(x, y, 9, 4)])
        box = await box_of(page)
        assert 8 <= box["left"] < box["right"] <= 692
        assert 8 <= box["top"] < box["bottom"] <= 412

    for y, is_below in ((100, True), (600, False)):
        await opened_card(page, shared, BRIG, at(10, y, 780, 30), {"width": 800, "height": 700})
        box = await box_of(page)
        assert box["top"] == y + 42 if is_below else box["bottom"] <= y - 11
        assert [box["left"], box["right"]] == pytest.approx([400 - 176, 400 + 176])

    await opened_card(page, shared, BRIG, at(100, 700), {"width": 390, "height": 844})
    box = await box_of(page)
    assert (box["left"], box["right"], box["bottom"]) == (0, 390, 844)
    assert box["top"] >= 0.4 * 844
    await fits(page, 390)


async def test_it_closes_and_gives_the_focus_back_and_the_page_does_not_move(page: Page, shared: str) -> None:
    """Escape closes it also while the focus is on the page."""
    await page.goto("about:blank")  # since a page that was resized before may move
    for how in ("Escape", "button"):
        await opened_card(page, shared, BRIG, at(100, 200))
        close = page.get_by_role("dialog").get_by_role("button", name="Close")
        size = await close.bounding_box()
        assert size is not None
        assert (size["width"], size["height"]) == (44, 44)

        await (page.keyboard.press("Escape") if how == "Escape" else close.click())

        await expect(page.locator(".event-card")).to_be_hidden()
        await expect(page.locator("main").get_by_role("button", name="Share")).to_be_focused()
        assert await page.evaluate("[card.eventId, left]") == [None, ["us1"]]
        moved = "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(shifts))))"
        assert await page.evaluate(moved) == []

    await opened_card(page, shared, BRIG, at(100, 200))
    link = page.get_by_role("link", name="All events")
    await link.focus()
    await page.keyboard.press("Escape")
    await expect(page.locator(".event-card")).to_be_hidden()
    await expect(link).to_be_focused()


async def test_another_event_and_another_version_take_its_place(page: Page, shared: str) -> None:
    await opened_card(page, shared, BRIG, at(100, 200))
    other = an_event("us2", place="Sion, Switzerland")
    await page.evaluate("event => card.open(event, { x: 900, y: 100, width: 10, height: 10 })", other)

    await expect(page.get_by_role("dialog")).to_have_count(1)
    await expect(page.get_by_role("dialog", name="Sion")).to_be_focused()
    await page.evaluate("event => card.show(event)", {**other, "mag": 6.1, "depth": None})
    await expect(page.get_by_role("dialog", name="M 6.1 earthquake, Sion")).to_contain_text("not measured")
    await page.evaluate("event => card.show(event)", BRIG)
    await expect(page.get_by_role("dialog", name="Sion")).to_have_count(1)
    assert await page.evaluate("card.eventId") == "us2"


async def test_text_of_an_event_stays_text_and_only_web_addresses_are_links(page: Page, shared: str) -> None:
    event = an_event("us/1?#", place="<img src=x onerror=alert(1)>", url="javascript:alert(1)")
    await opened_card(page, shared, event, None)

    card = page.get_by_role("dialog", name="<img src=x onerror=alert(1)>")
    await expect(card.get_by_role("link")).to_have_text(["Details"])
    await expect(card.get_by_role("link")).to_have_attribute("href", f"{shared}/events/us%2F1%3F%23")


async def test_a_service_without_sightings_is_not_asked_what_was_felt(page: Page, opened: Opener) -> None:
    url = opened(domains=("earthquakes",)).url
    felt = sent(page, "Felt(")
    async with page.expect_response(lambda answer: "query Effects" in document_of(answer.request)):
        await opened_card(page, url, BRIG, None)

    assert felt == []
