"""The dashboard for those who see it otherwise, or not: names, contrast, narrow and enlarged pages, axe's rules."""

import re
from itertools import product

import pytest
from playwright.async_api import Page, expect

from tests.acceptance.pages.axe import violations
from tests.acceptance.pages.contrast import blended, contrast, luminance
from tests.acceptance.pages.dashboard.conftest import Opener
from tests.acceptance.pages.dashboard.looking import STRONG, becomes, fits, live, loaded, map_draws
from tests.acceptance.pages.dashboard.reports import ANNA, RIDGECREST, People, address, at_noon
from tests.acceptance.pages.dashboard.test_map import place_of
from tests.store.samples import NOON, HeldClock

PANAMA = (-82.6217, 5.6346)  # the strongest event of the week, °E and °N
SCHEMES = ("light", "dark")

pytestmark = pytest.mark.needs("chromium")


@pytest.mark.needs("npm")
async def test_axe_finds_nothing(webgl_page: Page, shared: str) -> None:
    """WCAG 2.2 at AA, as far as a program can tell, and axe's own best practices. So it is with pages of errors."""
    await live(webgl_page, f"{shared}/?minMagnitude=4.5", STRONG)
    await map_draws(webgl_page, STRONG)
    await webgl_page.mouse.move(*await place_of(webgl_page, *PANAMA))
    await expect(webgl_page.locator("#map .tip")).to_contain_text("266 km S of Burica, Panama")
    assert await violations(webgl_page) == []

    await webgl_page.mouse.click(*await place_of(webgl_page, *PANAMA))
    await expect(webgl_page.get_by_role("dialog", name="Panama")).to_be_visible()
    await webgl_page.locator("#more-filters summary").press("Enter")

    assert await violations(webgl_page) == []
    for path in ("nowhere", "events/us0nothing"):
        answer = await webgl_page.goto(f"{shared}/{path}")
        assert answer
        assert answer.status == 404
        assert await violations(webgl_page) == [], path


async def test_everything_has_its_role_and_name_and_the_keyboard_reaches_the_list_first(
    webgl_page: Page, shared: str
) -> None:
    await live(webgl_page, f"{shared}/?minMagnitude=4.5", STRONG)
    await webgl_page.keyboard.press("Tab")
    skip = webgl_page.get_by_role("link", name="Skip to the list of events")
    await expect(skip).to_be_focused()
    await expect(skip).to_be_in_viewport()
    await webgl_page.keyboard.press("Enter")
    for reached in ("select[name=sort]", "#list .scroller", "#list li:first-child a"):
        await webgl_page.keyboard.press("Tab")
        await expect(webgl_page.locator(reached)).to_be_focused()
    assert await webgl_page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"

    for name in ("Magnitude in time", "Events over time", "Depth", "Frequency of magnitudes"):
        await expect(webgl_page.get_by_role("img", name=name, exact=True)).to_have_count(1)
        await expect(webgl_page.get_by_role("heading", name=name, level=2, exact=True)).to_have_count(1)
    await expect(webgl_page.get_by_role("application", name="Map of the events")).to_have_accessible_description(
        "81 events; the largest of magnitude 5.9, 266 km S of Burica, Panama. "
        "Arrow keys move the map, plus and minus zoom."
    )
    await expect(webgl_page.get_by_role("img", name="Frequency")).to_have_accessible_description(
        "81 earthquakes. No Gutenberg–Richter relation: Only 26 events reach the magnitude of completeness; "
        "an estimate needs 50."
    )
    for role in ("main", "banner", "contentinfo"):
        await expect(webgl_page.get_by_role(role)).to_have_count(1)
    await expect(webgl_page.get_by_role("heading", level=1)).to_have_text("Earthquakes")
    await expect(webgl_page.get_by_role("form", name="Filters")).to_have_count(1)
    await expect(webgl_page.get_by_role("navigation", name="Pages of the list")).to_have_count(1)
    await expect(webgl_page.get_by_role("region", name="Events").get_by_role("listitem")).to_have_count(25)
    await webgl_page.locator("#more-filters summary").click()
    controls = "#filters :is(input, select, button, summary):visible, #map button:visible"
    for control in await webgl_page.locator(controls).all():
        await expect(control).to_have_accessible_name(re.compile(r"\w"))


async def test_a_narrow_page_is_not_scrolled_sideways_and_the_drawings_follow_the_width(
    page: Page, shared: str
) -> None:
    """A page that is enlarged by 400 % has 320 px, as WCAG 1.4.10 has it."""
    await live(page, f"{shared}/?minMagnitude=4.5", STRONG)
    for width in (700, 640, 320):
        await page.set_viewport_size({"width": width, "height": 640})
        await page.locator("#more-filters summary").click()
        await fits(page, width)
        for plot in ("magnitude-time", "magnitude-frequency"):
            box = await page.locator(f"#{plot} .plot").bounding_box()
            assert box
            assert width - 50 < box["width"] < width
            await becomes(page, f"document.querySelector('#{plot}').plot.width", round(box["width"]))
        frame = await page.locator("#map .map-frame").bounding_box()
        assert frame
        assert frame["width"] > width - 50


async def test_colours_stand_out(page: Page, shared: str) -> None:
    """Text by 4.5:1 and marks by 3:1, as WCAG 1.4.3 and 1.4.11 have it; and a ramp's brightness runs one way."""
    await page.goto(f"{shared}/?minMagnitude=9")
    ramps = [[f"{by}-{n}" for n in range(1, 6)] for by in ("age", "depth")]
    texts = [*product(["text", "faint", "link", "good", "bad"], ["page", "panel"])]
    texts += [("plot-text", "page"), ("plot-tip", "plot-tip-text")]
    marks = [*product([*ramps[0], *ramps[1], "mark"], ["map-land", "map-sea", "page"])]
    marks += [(name, "page") for name in ("control", "plot-mark", "plot-fill", "plot-dots")]
    names = sorted({name for pair in texts + marks for name in pair})
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        values = await page.evaluate(
            "names => names.map(name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`))",
            names,
        )
        colours = dict(zip(names, values, strict=True))
        for pairs, least in ((texts, 4.5), (marks, 3)):
            for one, other in pairs:
                assert contrast(colours[one], colours[other]) >= least, (scheme, one, other)
        for ramp in ramps:
            steps = [luminance(colours[name]) for name in ramp]
            assert steps in (sorted(steps), sorted(steps, reverse=True))
        assert (luminance(colours["page"]) < 0.1) == (scheme == "dark")


# What people report


async def reported(page: Page, opened: Opener) -> None:
    """Open a page that shows a fresh, a fading and a stale report, and the whole form."""
    clock = HeldClock()
    url = opened(clock=clock).url
    for category, minutes in {"FIRE": 25, "DAMAGE": 15, "SHAKING": 1}.items():
        clock.now = NOON - 60_000 * minutes
        People(url).report(ANNA, **RIDGECREST, category=category, text="x" * 280)
    clock.now = NOON
    await at_noon(page)
    await loaded(page, address(url, path="/?minMagnitude=4.5"), STRONG)
    await expect(page.locator("#sightings .state")).to_contain_text(["Fresh", "Fading", "Stale"])
    await page.locator(".report > summary").click()
    await page.locator(".questionnaire summary").click()


@pytest.mark.needs("npm")
async def test_what_people_report_has_names_and_fits_a_narrow_page_and_axe_finds_nothing(
    page: Page, opened: Opener
) -> None:
    await reported(page, opened)
    for control in await page.locator("#sightings :is(input, select, textarea, button)").all():
        await expect(control).to_have_accessible_name(re.compile(r"\w"))
    await expect(page.get_by_role("region", name="What people report")).to_have_count(1)
    await expect(page.get_by_role("form", name="Report")).to_have_count(1)
    await page.get_by_role("button", name="Report", exact=True).click()
    await expect(page.locator("#sighting-problems p")).to_have_count(1)
    assert await violations(page) == []

    for width in (360, 320):
        await page.set_viewport_size({"width": width, "height": 640})
        await fits(page, width)
        for part in ("form", ".reports"):
            assert await page.locator(f"#sightings {part}").evaluate("part => part.scrollWidth <= part.clientWidth")


async def test_rings_stand_out_also_where_they_are_faintest(webgl_page: Page, opened: Opener) -> None:
    """By 3:1 from land, sea and page: the ring itself, or its casing, from which the ring then stands out."""
    await webgl_page.set_viewport_size({"width": 800, "height": 600})
    await reported(webgl_page, opened)
    await expect(webgl_page.locator("#map .sightings g")).to_have_count(3)
    for scheme in SCHEMES:
        await webgl_page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        grounds, rings = await webgl_page.evaluate(
            """() => [
              ["map-land", "map-sea", "page"].map(
                (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`)),
              [...document.querySelectorAll("#map .sightings g")].map((group) => [
                Number(group.getAttribute("opacity")),
                ...[...group.querySelectorAll("circle")].map((circle) => getComputedStyle(circle).stroke),
              ]),
            ]"""
        )
        for ground, (opacity, *strokes) in product(grounds, rings):
            casing, ring = (blended(stroke, ground, opacity) for stroke in strokes)
            assert max(contrast(ring, ground), min(contrast(casing, ground), contrast(ring, casing))) >= 3, ground
