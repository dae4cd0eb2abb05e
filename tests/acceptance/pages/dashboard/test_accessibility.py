"""The dashboard for those who see it otherwise, or not: names, contrast, narrow and enlarged pages, axe's rules."""

import re
from datetime import UTC, datetime
from itertools import product

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.acceptance.browser import Visit
from tests.acceptance.pages.axe import violations
from tests.acceptance.pages.dashboard.conftest import Opener
from tests.acceptance.pages.dashboard.looking import becomes, map_draws, settled
from tests.acceptance.pages.dashboard.reports import ANNA, RIDGECREST, People, address
from tests.acceptance.pages.dashboard.test_map import place_of
from tests.store.samples import NOON, NOON_SECONDS, HeldClock

PANAMA = (-82.6217, 5.6346)  # the strongest event of the week, °E and °N

pytestmark = pytest.mark.needs("chromium")


@pytest_asyncio.fixture(loop_scope="session")
async def visit(webgl_visit: Visit) -> Visit:
    """A page that has WebGL, with which the map is drawn."""
    return webgl_visit


async def shown(page: Page, url: str, scheme: str = "light") -> None:
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await page.goto(f"{url}/?minMagnitude=4.5")
    await settled(page, 81)
    await expect(page.locator("#connection")).to_contain_text("Live")


@pytest.mark.needs("npm")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(visit: Visit, shared: str, scheme: str) -> None:
    """WCAG 2.2 at AA, as far as a program can tell, and axe's own best practices."""
    page = visit.page
    await shown(page, shared, scheme)
    await page.locator("#list li a").first.click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.locator("#more-filters summary").press("Enter")

    assert await violations(page) == []


@pytest.mark.needs("npm")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_on_the_map_with_a_tip_and_a_card(visit: Visit, shared: str, scheme: str) -> None:
    page = visit.page
    await shown(page, shared, scheme)
    await map_draws(page, 81)
    await page.mouse.move(*await place_of(page, *PANAMA))
    await expect(page.locator("#map .tip")).to_contain_text("266 km S of Burica, Panama")
    assert await violations(page) == []

    await page.mouse.click(*await place_of(page, *PANAMA))
    await expect(page.get_by_role("dialog", name="Panama")).to_be_visible()

    assert await violations(page) == []


async def test_everything_has_its_role_and_name(visit: Visit, shared: str) -> None:
    page = visit.page
    await shown(page, shared)

    for name in ("Magnitude in time", "Events over time", "Depth", "Frequency of magnitudes"):
        await expect(page.get_by_role("img", name=name, exact=True)).to_have_count(1)
        await expect(page.get_by_role("heading", name=name, level=2, exact=True)).to_have_count(1)
    await expect(page.get_by_role("application", name="Map of the events")).to_have_accessible_description(
        "81 events; the largest of magnitude 5.9, 266 km S of Burica, Panama. "
        "Arrow keys move the map, plus and minus zoom."
    )
    await expect(page.get_by_role("img", name="Frequency")).to_have_accessible_description(
        "81 earthquakes. No Gutenberg–Richter relation: Only 26 events reach the magnitude of completeness; "
        "an estimate needs 50."
    )
    await expect(page.get_by_role("main")).to_have_count(1)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Earthquakes")
    await expect(page.get_by_role("banner")).to_have_count(1)
    await expect(page.get_by_role("contentinfo")).to_have_count(1)
    await expect(page.get_by_role("form", name="Filters")).to_have_count(1)
    await expect(page.get_by_role("navigation", name="Pages of the list")).to_have_count(1)
    await expect(page.get_by_role("region", name="Events").get_by_role("listitem")).to_have_count(25)
    await page.locator("#more-filters summary").click()
    for control in await page.locator(
        "#filters :is(input, select, button, summary):visible, #map button:visible"
    ).all():
        await expect(control).to_have_accessible_name(re.compile(r"\w"))


async def test_the_keyboard_reaches_everything_and_the_list_first(visit: Visit, shared: str) -> None:
    page = visit.page
    await shown(page, shared)
    await page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the list of events")
    await expect(skip).to_be_focused()
    await expect(skip).to_be_in_viewport()
    await page.keyboard.press("Enter")
    for reached in ("select[name=sort]", "#list .scroller", "#list li:first-child a"):
        await page.keyboard.press("Tab")
        await expect(page.locator(reached)).to_be_focused()

    outline = await page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "3px"


@pytest.mark.parametrize(("width", "scale"), [(320, 1), (640, 2)])
async def test_a_narrow_page_is_not_scrolled_sideways(visit: Visit, shared: str, width: int, scale: int) -> None:
    """A page that is enlarged by 400 % has 320 px, as WCAG 1.4.10 has it."""
    browser = visit.page.context.browser
    assert browser
    page = await browser.new_page(viewport={"width": width, "height": 640}, device_scale_factor=scale)
    await shown(page, shared)
    await page.locator("#more-filters summary").click()

    assert await page.evaluate("document.documentElement.scrollWidth") == width
    for drawing in ("#map .map-frame", "#magnitude-time .plot", "#magnitude-frequency .plot"):
        box = await page.locator(drawing).bounding_box()
        assert box
        assert box["width"] > 280
    await page.close()


async def test_the_drawings_follow_the_width(visit: Visit, shared: str) -> None:
    page = visit.page
    await shown(page, shared)
    await expect(page.locator("#map")).to_have_attribute("data-state", "drawn")

    await page.set_viewport_size({"width": 700, "height": 900})

    frame = await page.locator("#map .map-frame").bounding_box()
    plot = await page.locator("#magnitude-time .plot").bounding_box()
    assert frame
    assert plot
    assert frame["width"] == plot["width"] > 650
    await expect(page.locator("#map canvas")).to_have_attribute("width", str(round(frame["width"]) - 2))  # its border
    await becomes(page, "document.querySelector('#magnitude-time').plot.width", round(plot["width"]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_colours_stand_out(visit: Visit, shared: str, scheme: str) -> None:
    """Text by 4.5:1 and circles by 3:1, as WCAG 1.4.3 and 1.4.11 have it; and a ramp's brightness runs one way."""
    page = visit.page
    await shown(page, shared, scheme)
    names = ["text", "faint", "link", "good", "bad", "page", "panel", "map-land", "map-sea", "mark", "control"]
    ramps = {by: [f"{by}-{n}" for n in range(1, 6)] for by in ("age", "depth")}
    light = await page.evaluate(
        """names => names.map(name => {
          const hex = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
          const parts = hex.match(/[0-9a-f]{2}/g).map(part => parseInt(part, 16) / 255);
          const linear = parts.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
          return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
        })""",
        names + ramps["age"] + ramps["depth"],
    )
    luminance: dict[str, float] = dict(zip(names + ramps["age"] + ramps["depth"], light, strict=True))

    def contrast(one: str, other: str) -> float:
        dark, bright = sorted((luminance[one], luminance[other]))
        return (bright + 0.05) / (dark + 0.05)

    for text, ground in product(["text", "faint", "link", "good", "bad"], ["page", "panel"]):
        assert contrast(text, ground) >= 4.5, (text, ground)
    for circle, ground in product([*ramps["age"], *ramps["depth"], "mark"], ["map-land", "map-sea", "page"]):
        assert contrast(circle, ground) >= 3, (circle, ground)
    assert contrast("control", "page") >= 3
    for ramp in ramps.values():
        steps = [luminance[name] for name in ramp]
        assert steps in (sorted(steps), sorted(steps, reverse=True))
    assert (luminance["page"] < 0.1) == (scheme == "dark")


# What people report


async def reported(page: Page, opened: Opener, *, scheme: str = "light") -> None:
    """Open a page that shows a fresh, a fading and a stale report, and the whole form."""
    clock = HeldClock()
    url, _ = opened(clock=clock)
    for category, minutes in {"FIRE": 25, "DAMAGE": 15, "SHAKING": 1}.items():
        clock.now = NOON - 60_000 * minutes
        People(url).report(ANNA, **RIDGECREST, category=category, text="x" * 280)
    clock.now = NOON
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    await page.clock.install(time=datetime.fromtimestamp(NOON_SECONDS, UTC))
    await page.goto(address(url, search="?minMagnitude=4.5"))
    await settled(page, 81)
    await expect(page.locator("#sightings .state")).to_contain_text(["Fresh", "Fading", "Stale"])
    await page.locator(".report > summary").click()
    await page.locator(".questionnaire summary").click()


@pytest.mark.needs("npm")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_in_what_people_report(own_visit: Visit, opened: Opener, scheme: str) -> None:
    page = own_visit.page
    await reported(page, opened, scheme=scheme)
    await page.get_by_role("button", name="Report", exact=True).click()
    await expect(page.locator("#sighting-problems p")).to_have_count(1)

    assert await violations(page) == []


async def test_every_control_for_reports_has_a_name(own_visit: Visit, opened: Opener) -> None:
    page = own_visit.page
    await reported(page, opened)

    for control in await page.locator("#sightings :is(input, select, textarea, button)").all():
        await expect(control).to_have_accessible_name(re.compile(r"\w"))
    await expect(page.get_by_role("region", name="What people report")).to_have_count(1)
    await expect(page.get_by_role("form", name="Report")).to_have_count(1)


@pytest.mark.parametrize("width", [320, 360])
async def test_reports_are_not_scrolled_sideways_on_a_narrow_page(own_visit: Visit, opened: Opener, width: int) -> None:
    page = own_visit.page
    await page.set_viewport_size({"width": width, "height": 640})
    await reported(page, opened)

    assert await page.evaluate("document.documentElement.scrollWidth") == width
    for part in ("form", ".reports"):
        assert await page.locator(f"#sightings {part}").evaluate("part => part.scrollWidth <= part.clientWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_rings_stand_out_also_where_they_are_faintest(own_visit: Visit, opened: Opener, scheme: str) -> None:
    """By 3:1 from land, sea and page: the ring itself, or its casing, from which the ring then stands out."""
    page = own_visit.page
    await reported(page, opened, scheme=scheme)
    contrasts = await page.evaluate(
        """() => {
          const light = (parts) => {
            const linear = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
          };
          const contrast = (one, other) => {
            const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
            return (bright + 0.05) / (dark + 0.05);
          };
          const rgb = (text) => text.match(/\\d+/g).slice(0, 3).map((part) => part / 255);
          const ground = (name) => {
            const hex = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
            return hex.match(/[0-9a-f]{2}/g).map((part) => parseInt(part, 16) / 255);
          };
          const rings = [...document.querySelectorAll("#map .sightings g")];
          return ["map-land", "map-sea", "page"].map(ground).flatMap((under) => rings.map((group) => {
            const opacity = Number(group.getAttribute("opacity"));
            const [casing, ring] = [...group.querySelectorAll("circle")].map((circle) =>
              rgb(getComputedStyle(circle).stroke).map((part, n) => opacity * part + (1 - opacity) * under[n]));
            return Math.max(contrast(ring, under), Math.min(contrast(casing, under), contrast(ring, casing)));
          }));
        }"""
    )

    assert len(contrasts) == 9
    assert min(contrasts) >= 3
