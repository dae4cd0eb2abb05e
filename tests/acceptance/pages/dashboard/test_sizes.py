"""The dashboard on screens of five sizes, with a map that is drawn and with a picture in its place."""

import pytest
from playwright.async_api import Browser, Page, expect

from tests.acceptance.browser import Visit
from tests.acceptance.pages.dashboard.looking import STRONG, drawn_somehow, fits, loaded, with_filters

pytestmark = pytest.mark.needs("chromium", "the web pages' packages")

SIZES = {
    "telephone": (390, 844),
    "tablet": (768, 1024),
    "turned tablet": (1024, 768),
    "laptop": (1280, 800),
    "large screen": (1920, 1080),
}
LEAST_TARGET = 44  # px, for a finger
LEAST_FRAME = 300  # px of the map, in either direction
SMALL_TARGETS = """least => [...document.querySelectorAll(
  "header :is(a, button), #filters :is(a, button, summary, select, input:not([type=checkbox])), " +
  "#map :is(button, .choice label), #list :is(li > a, nav a, select)"
)].filter((target) => target.checkVisibility()).flatMap((target) => {
  const { width, height } = target.getBoundingClientRect();
  return Math.min(width, height) < least ? [`${target.outerHTML.slice(0, 60)}: ${width} × ${height}`] : [];
})"""

PLOTS = ("magnitude-time", "event-rates", "depth-section", "magnitude-frequency")


async def opened(page: Page, url: str, size: str) -> None:
    """Open the strong events of the week, and wait until they are shown."""
    await resized(page, size)
    await loaded(page, f"{url}/?minMagnitude=4.5", STRONG)


async def resized(page: Page, size: str) -> None:
    width, height = SIZES[size]
    await page.set_viewport_size({"width": width, "height": height})


async def looked_over(page: Page, size: str) -> None:
    """Check what is the same for all: it fits, it says what the map shows, and what it offers can be reached."""
    width, _ = SIZES[size]
    frame = await page.locator("#map .map-frame").bounding_box()
    assert frame
    assert min(frame["width"], frame["height"]) >= LEAST_FRAME
    assert frame["x"] >= 0
    assert frame["x"] + frame["width"] <= width
    await expect(page.locator("#map-caption")).to_contain_text(f"{STRONG} events; the largest of magnitude 5.9")
    await expect(page.locator("#list li")).to_have_count(25)
    for plot in PLOTS:
        await expect(page.locator(f"#{plot}-caption")).not_to_be_empty()
        await page.locator(f"#{plot}").scroll_into_view_if_needed()
        await expect(page.locator(f"#{plot} canvas").first).to_be_visible()
    await fits(page, width)
    await with_filters(page)
    await expect(page.get_by_role("searchbox", name="Place")).to_be_in_viewport()
    await fits(page, width)
    await page.locator("#more-filters summary").click()


async def test_it_fits_with_a_picture_in_place_of_the_map(page: Page, shared: str) -> None:
    await opened(page, shared, "telephone")
    await expect(page.locator("#map")).to_have_attribute("data-state", "still")
    for size in SIZES:
        await resized(page, size)
        await expect(page.locator("#map svg.still circle")).to_have_count(STRONG)
        await looked_over(page, size)


async def test_it_fits_with_a_drawn_map(webgl_page: Page, shared: str) -> None:
    await opened(webgl_page, shared, "telephone")
    await drawn_somehow(webgl_page)
    for size in SIZES:
        await resized(webgl_page, size)
        await expect(webgl_page.locator("#map canvas")).to_be_visible()
        await looked_over(webgl_page, size)


async def test_a_finger_finds_everything(browser: Browser, shared: str) -> None:
    width, height = SIZES["telephone"]
    page = await browser.new_page(viewport={"width": width, "height": height}, has_touch=True, is_mobile=True)
    await loaded(page, f"{shared}/?minMagnitude=4.5", STRONG)
    await drawn_somehow(page)
    await with_filters(page)

    assert await page.evaluate(SMALL_TARGETS, LEAST_TARGET) == []
    await page.close()


async def test_a_plot_is_drawn_when_it_comes_near_and_all_are_for_a_print(visit: Visit, shared: str) -> None:
    """A telephone neither loads the library nor draws before; what the plot says is there from the first."""
    page = visit.page
    await opened(page, shared, "telephone")
    await expect(page.locator("#magnitude-frequency-caption")).not_to_be_empty()
    await expect(page.locator(".plot canvas")).to_have_count(0)
    assert not any("uplot" in url for url in visit.requested)

    await page.locator("#magnitude-frequency").scroll_into_view_if_needed()
    await expect(page.locator("#magnitude-frequency canvas")).to_be_visible()

    await page.pdf()
    for plot in PLOTS:
        await expect(page.locator(f"#{plot} canvas").first).to_be_attached()
