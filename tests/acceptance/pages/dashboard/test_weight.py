"""What the dashboard's first view takes: bytes on the wire, and no movement of what is read."""

from typing import Any

import pytest
from playwright.async_api import Browser

from tests.acceptance.browser import VIEWPORT
from tests.acceptance.pages.dashboard.looking import WEEK, drawn_somehow, loaded, settled

pytestmark = pytest.mark.needs("chromium", "the web pages' packages")

MOST_BYTES = 400_000  # compressed, before the map is loaded
MOST_SHIFT = 0.01  # a tenth of what Core Web Vitals call good
WATCH_SHIFTS = """
window.shift = 0;
new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (window.shift += value)))
  .observe({ type: "layout-shift", buffered: true });
"""
OF_THE_MAP = ("maplibre", "countries-", "topojson", "plate_boundaries")


async def test_the_first_view_is_light_and_nothing_moves(browser: Browser, whole_week: str) -> None:
    """With WebGL, and nothing in the browser's cache."""
    page = await browser.new_page(viewport=VIEWPORT)
    await page.add_init_script(WATCH_SHIFTS)
    network = await page.context.new_cdp_session(page)
    urls: dict[str, str] = {}
    sizes: dict[str, int] = {}

    def note_answer(answer: dict[str, Any]) -> None:
        urls[answer["requestId"]] = answer["response"]["url"]

    def note_end(end: dict[str, Any]) -> None:
        sizes[end["requestId"]] = end["encodedDataLength"]

    network.on("Network.responseReceived", note_answer)
    network.on("Network.loadingFinished", note_end)
    await network.send("Network.enable")
    await loaded(page, whole_week, WEEK)
    await drawn_somehow(page)

    first = sum(size for request, size in sizes.items() if not any(name in urls[request] for name in OF_THE_MAP))
    assert 100_000 < first < MOST_BYTES
    assert await page.evaluate("window.shift") < MOST_SHIFT

    await page.set_viewport_size({"width": 390, "height": 844})
    await page.reload()
    await settled(page, WEEK)
    await drawn_somehow(page)
    assert await page.evaluate("window.shift") < MOST_SHIFT
    await page.close()
