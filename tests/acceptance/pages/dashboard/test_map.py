"""The map in Chromium, with the demo's week: what it draws, how it is moved, and what a person picks on it."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, expect

from tests.acceptance.browser import WITHOUT_WEBGL, Visit, tap
from tests.acceptance.pages.dashboard.conftest import Opener
from tests.acceptance.pages.dashboard.looking import (
    EVENTS,
    STRONG,
    loaded,
    map_draws,
    on_map,
    settled,
    until,
    with_filters,
)
from tests.acceptance.pages.dashboard.subscription import Subscription, an_event, store

pytestmark = pytest.mark.needs("chromium")


@pytest_asyncio.fixture(loop_scope="session")
async def visit(webgl_visit: Visit) -> Visit:
    """A page that has WebGL, in a window that is small, since the processor draws the map."""
    await webgl_visit.page.set_viewport_size({"width": 800, "height": 600})
    return webgl_visit


MAP = "document.querySelector('#map').map"
FEW, OF_FEW = "minMagnitude=5.5", 11


async def opened_map(page: Page, url: str, events: int) -> None:
    """Open the page, and wait until its map is drawn and rests."""
    await page.goto(url)
    await map_draws(page, events)
    await rested(page)


async def rested(page: Page) -> None:
    """Wait until the map has drawn all that it has to."""
    await until(page, f"() => {MAP}.loaded() && !{MAP}.isMoving()")


async def look(page: Page, lon: float, lat: float, zoom: float) -> None:
    """Move the map at once, and return nothing of it: Playwright would copy the map."""
    await page.evaluate(f"view => {{ {MAP}.jumpTo(view); }}", {"center": [lon, lat], "zoom": zoom})
    await rested(page)


async def place_of(page: Page, lon: float, lat: float) -> tuple[float, float]:
    """Where a place is in the window, px."""
    x, y = await page.evaluate(
        f"""([lon, lat]) => {{
          const {{ left, top }} = document.querySelector(".map-frame canvas").getBoundingClientRect();
          const turns = Math.round(({MAP}.getCenter().lng - lon) / 360);
          const {{ x, y }} = {MAP}.project([lon + 360 * turns, lat]);
          return [left + x, top + y];
        }}""",
        [lon, lat],
    )
    return x, y


async def view(page: Page) -> dict[str, float]:
    """What the map shows."""
    found: dict[str, float] = await page.evaluate(
        f"""() => {{
          const bounds = {MAP}.getBounds();
          const {{ lng: lon, lat }} = {MAP}.getCenter();
          return {{
            lon, lat, zoom: {MAP}.getZoom(),
            west: bounds.getWest(), south: bounds.getSouth(), east: bounds.getEast(), north: bounds.getNorth(),
          }};
        }}"""
    )
    return found


# What it draws


async def test_every_event_of_the_week_is_painted_on_the_map(visit: Visit, shared: str) -> None:
    await opened_map(visit.page, shared, EVENTS)

    query = "{ events(first: 1000) { nodes { eventId } } }"
    answer = await visit.page.request.post(f"{shared}/graphql", data={"query": query})
    nodes = (await answer.json())["data"]["events"]["nodes"]
    assert set(await on_map(visit.page)) == {node["eventId"] for node in nodes}
    assert await visit.page.evaluate(f"{MAP}.queryRenderedFeatures({{layers: ['events']}}).length") > 100
    picture = await visit.page.locator(".map-frame").screenshot()
    assert len(picture) > 20_000  # a blank one takes a tenth of that
    assert visit.complaints == []


async def test_land_and_its_details_are_drawn_in_the_colours_of_the_scheme(visit: Visit, shared: str) -> None:
    """Each level of detail is loaded when it is needed."""
    page = visit.page

    def levels() -> list[str]:
        return [found for url in visit.requested for found in re.findall(r"countries-(\d+m)", url)]

    await opened_map(page, f"{shared}/?{FEW}", OF_FEW)
    await until(page, f"() => !!{MAP}.getLayer('land-110m') && {MAP}.loaded()")
    places = {
        "Palmira": (-76.3, 3.5),
        "Chukotka, beyond the dateline": (178.5, 67.5),
        "Chukotka": (-178.5, 67),
        "off Panama": (-82.5, 5.5),
        "where a ring that is not unwound would cross the map": (0, 67),
    }
    on_land = await page.evaluate(
        f"""places => places.map(place =>
          {MAP}.queryRenderedFeatures({MAP}.project(place), {{ layers: ["land-110m"] }}).length > 0)""",
        list(places.values()),
    )
    assert dict(zip(places, on_land, strict=True)) == {name: "C" in name or name == "Palmira" for name in places}

    painted = f"""() => [
      {MAP}.getPaintProperty("sea", "background-color"),
      {MAP}.getPaintProperty("land-110m", "fill-color"),
      {MAP}.getPaintProperty("events", "circle-color")[3],
    ]"""
    wanted = """() => ["--map-sea", "--map-land", "--age-1"].map(
      (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim())"""
    light = await page.evaluate(painted)
    assert light == await page.evaluate(wanted)
    await page.emulate_media(color_scheme="dark")
    dark = await page.evaluate(wanted)
    await until(page, f"dark => ({painted})().join() === dark.join()", dark)
    assert not set(light) & set(dark)

    assert levels() == ["110m"]
    await look(page, -120, 37, 3)
    await until(page, f"() => !!{MAP}.getLayer('coast-50m')")
    assert levels() == ["110m", "50m"]
    await look(page, -120, 37, 6)
    await until(page, f"() => !!{MAP}.getLayer('coast-10m')")
    assert levels() == ["110m", "50m", "10m"]
    ranges = await page.evaluate(
        f"""["110m", "50m", "10m"].map((name) => {{
          const {{ minzoom, maxzoom }} = {MAP}.getLayer(`land-${{name}}`);
          return [minzoom, maxzoom];
        }})"""
    )
    assert ranges == [[-2, 2.5], [2.5, 5], [5, 24]]
    assert {urlsplit(url).netloc for url in visit.requested if url.startswith("http")} == {urlsplit(shared).netloc}
    assert visit.complaints == []


async def test_the_map_takes_its_place_before_it_is_loaded(page: Page, shared: str) -> None:
    held: list[Route] = []
    await page.route("**/maplibre-gl-5*.js", lambda route: held.append(route))
    async with page.expect_request("**/maplibre-gl-5*.js"):
        await page.goto(f"{shared}/?minMagnitude=4.5", wait_until="commit")  # "load" may wait for what is held
    await settled(page, STRONG)
    await expect(page.locator("#map")).to_have_attribute("data-state", "waiting")
    before = [await page.locator(part).bounding_box() for part in (".map-frame", "#map-caption", "#list")]

    await held[0].continue_()
    await map_draws(page, STRONG)

    after = [await page.locator(part).bounding_box() for part in (".map-frame", "#map-caption", "#list")]
    assert after == before


# Picking


async def test_a_click_picks_the_largest_of_what_is_near_and_a_finger_reaches_farther(
    page: Page, opened: Opener
) -> None:
    """A small circle on a large one can be clicked, as long as the middle of the large one is not as near."""
    url = opened(empty=True).url
    great = an_event("great", mag=6.3, lat=0, lon=10)
    aside = an_event("aside", mag=2, lat=0, lon=10.5)  # 11 px beside it, within its circle
    close = an_event("close", mag=2, lat=0, lon=9.8)  # 4 px beside it
    store(url, great, aside, close)
    await opened_map(page, url, 3)
    await look(page, 10, 0, 4)  # 22.8 px a degree

    for longitude, picked in ((10.5, "aside"), (9.8, "great"), (9.55, "close"), (10.4, "aside")):
        await page.mouse.click(*await place_of(page, longitude, 0))
        await expect(page.locator("#list li.selected")).to_have_attribute("data-event-id", picked)
        await expect(page.locator("#map")).to_have_attribute("data-selected", picked)
        await page.keyboard.press("Escape")  # the card may lie over the next one
        await expect(page.get_by_role("dialog")).to_be_hidden()
    await page.mouse.click(*await place_of(page, 14, 0))
    await expect(page.locator("#list li.selected")).to_have_count(0)
    await tap(page, *await place_of(page, 10.5, 0))
    await expect(page.locator("#map")).to_have_attribute("data-selected", "great")


# Moving


async def test_the_pointer_shows_what_an_event_is_and_the_keyboard_moves_the_map(page: Page, shared: str) -> None:
    await opened_map(page, f"{shared}/?{FEW}", OF_FEW)
    panama = (
        await page.evaluate(
            f"{MAP}.getSource('events').serialize().data.features.find(f => f.properties.eventId === 'us6000kxfl')"
        )
    )["geometry"]["coordinates"]
    await page.mouse.move(*await place_of(page, *panama))
    tip = page.locator("#map .tip")
    await expect(tip).to_be_visible()
    await expect(tip).to_have_text(re.compile(r"^M 5\.9266 km S of Burica, Panama2023-.* UTC$"))
    x, y = await place_of(page, *panama)
    await page.mouse.move(x + 60, y)
    await expect(tip).to_be_hidden()

    before = await view(page)
    await page.get_by_role("application", name="Map of the events").focus()
    await page.keyboard.press("ArrowRight")
    await until(page, f"lon => ({MAP}.getCenter().lng - lon + 360) % 360 > 5 && !{MAP}.isMoving()", before["lon"])
    await page.keyboard.press("+")
    await until(page, f"zoom => {MAP}.getZoom() > zoom + 0.9 && !{MAP}.isMoving()", before["zoom"])
    await page.get_by_role("button", name="Zoom out").press("Enter")
    await until(page, f"zoom => {MAP}.getZoom() < zoom + 0.1 && !{MAP}.isMoving()", before["zoom"])
    await page.get_by_role("button", name="Whole world").press("Enter")
    await until(page, f"lon => Math.abs({MAP}.getCenter().lng - lon) < 0.1", before["lon"])

    for zoom, text in ((1, "2,000 km"), (7, "50 km"), (11, "2 km")):
        await look(page, 0, 0, zoom)
        await expect(page.locator(".scale-bar")).to_have_text(text)
        box = await page.locator(".scale-bar").bounding_box()
        assert box
        length = float(text.split()[0].replace(",", ""))
        assert box["width"] == pytest.approx(length * 512 * 2**zoom / 40075, rel=0.02)


async def test_the_area_of_the_filter_is_framed_and_fills_the_map(page: Page, shared: str) -> None:
    await page.goto(f"{shared}/?south=30&north=45&west=170&east=-110")
    await expect(page.locator("#map")).to_have_attribute("data-state", "drawn")
    await rested(page)

    shown = await view(page)
    assert 150 < shown["west"] % 360 < 170 < 250 < shown["east"] % 360 < 280
    assert shown["south"] < 30 < 45 < shown["north"]
    [frame] = await page.evaluate(f"{MAP}.getSource('area').serialize().data.features")
    longitudes, latitudes = zip(*frame["geometry"]["coordinates"], strict=True)
    assert (min(longitudes), max(longitudes), min(latitudes), max(latitudes)) == (170, 250, 30, 45)

    await with_filters(page)
    await page.get_by_role("link", name="Clear").click()
    await until(page, f"() => {MAP}.getSource('area').serialize().data.features.length === 0")


async def test_the_area_that_is_shown_can_be_searched(page: Page, shared: str) -> None:
    await opened_map(page, f"{shared}/?minMagnitude=4.5", STRONG)
    await look(page, 178, -20, 4)
    search = page.get_by_role("button", name="Search this area")
    await expect(search).to_be_hidden()  # the map was not moved by hand
    x, y = await place_of(page, 178, -20)
    await page.mouse.move(x, y)
    await page.mouse.down()
    for step in (15, 30, 45, 60):
        await page.mouse.move(x - step, y)
        drawn = f"new Promise(done => {{ {MAP}.once('render', () => done()).triggerRepaint(); }})"
        await page.evaluate(drawn)  # as a hand is slower
    await page.mouse.up()
    await expect(search).to_be_visible()
    await rested(page)
    shown = await view(page)

    await search.click()

    await expect(page.locator("#filter-number")).to_have_text("2")
    chosen = {name: float(value) for name, [value] in parse_qs(urlsplit(page.url).query).items()}
    assert chosen == {
        "minMagnitude": 4.5,
        "south": pytest.approx(shown["south"], abs=0.01),
        "north": pytest.approx(shown["north"], abs=0.01),
        "west": pytest.approx(shown["west"] % 360, abs=0.01),
        "east": pytest.approx(shown["east"] % 360 - 360, abs=0.01),
    }
    await expect(page.locator("#map-caption")).to_contain_text("events; the largest of magnitude")
    await until(page, f"() => {MAP}.getSource('area').serialize().data.features.length === 1")
    await until(
        page,
        "all => { const { drawn } = document.querySelector('#map').dataset; return 0 < drawn && drawn < all; }",
        STRONG,
    )
    await expect(search).to_be_hidden()


async def test_a_map_that_is_drawn_slowly_moves_without_its_lines(page: Page, shared: str) -> None:
    """What counts is how long a frame takes, and not how long the hand pauses before the next one."""
    await opened_map(page, f"{shared}/?{FEW}", OF_FEW)
    await until(page, f"() => !!{MAP}.getLayer('coast-110m')")
    opacities = f"['coast-110m', 'border-110m'].map(id => {MAP}.getPaintProperty(id, 'line-opacity') ?? 1)"
    shown = f"[...{opacities}, Number(!{MAP}.getLayer('plates').isHidden({MAP}.getZoom()))]"
    await page.evaluate(
        """() => {
          let time = 0;
          globalThis.step = 5;
          Object.defineProperty(document.timeline, "currentTime", { configurable: true, get: () => time });
          const frame = () => { time += step; requestAnimationFrame(frame); };
          frame();
          globalThis.pause = ms => { time += ms; };
        }"""
    )
    for pause_ms, frame_ms, opacity in ((0, 5, 1), (1000, 5, 1), (0, 50, 0)):
        await page.evaluate("ms => { globalThis.step = ms; }", frame_ms)
        x, y = await place_of(page, 160, 0)
        await page.mouse.move(x, y)
        await page.mouse.down()
        for step in range(1, 13):  # more frames than are judged
            await page.mouse.move(x - 10 * step, y)
            await page.evaluate(
                """async ms => {
                  for (let frame = 0; frame < 4; frame++) { await new Promise(requestAnimationFrame); }
                  pause(ms);
                }""",
                pause_ms,
            )
        assert await page.evaluate(shown) == [opacity] * 3, (pause_ms, frame_ms)
        await page.mouse.up()

        await rested(page)
        assert await page.evaluate(shown) == [1] * 3


async def test_the_globe_and_hidden_plates_are_remembered(visit: Visit, shared: str) -> None:
    page = visit.page
    await opened_map(page, f"{shared}/?{FEW}", OF_FEW)
    globe, plates = (page.get_by_role("button", name=name) for name in ("Globe", "Plate boundaries"))
    state = f"[{MAP}.getProjection().type, {MAP}.getLayoutProperty('plates', 'visibility')]"
    assert await page.evaluate(state) == ["mercator", "visible"]
    await until(page, f"() => {MAP}.querySourceFeatures('plates').length > 0")
    await expect(page.locator(".credits")).to_have_text("Land: Natural Earth. Plates: Bird (2003), Nordpil, ODC-BY.")

    await globe.click()
    await plates.click()

    assert await page.evaluate(state) == ["globe", "none"]
    visit.requested.clear()
    await page.reload()
    await map_draws(page, OF_FEW)
    await expect(globe).to_have_attribute("aria-pressed", "true")
    await expect(plates).to_have_attribute("aria-pressed", "false")
    assert await page.evaluate(state) == ["globe", "none"]
    assert not [url for url in visit.requested if "plate_boundaries" in url]
    await globe.click()
    assert await page.evaluate("localStorage.getItem('projection')") == "flat"
    assert visit.complaints == []


# Live


async def test_an_event_that_is_deleted_leaves_the_map(page: Page, subscription: Subscription) -> None:
    await opened_map(page, subscription.url, EVENTS)
    await expect(page.locator("#connection")).to_contain_text("Live")
    subscription.notice(an_event("new1"))
    await map_draws(page, EVENTS + 1)

    subscription.notice(an_event("new1", mag=4.2), kind="REVISED")
    await until(
        page,
        f"() => {MAP}.getSource('events').serialize().data.features.some(({{ properties }}) => properties.mag === 4.2)",
    )
    subscription.notice(an_event("new1"), kind="DELETED")

    await map_draws(page, EVENTS)
    assert "new1" not in await on_map(page)


# Without MapLibre


async def test_without_webgl_there_is_a_picture_and_a_sentence(visit: Visit, shared: str) -> None:
    page = visit.page
    await page.add_init_script(WITHOUT_WEBGL)
    await loaded(page, f"{shared}/?minMagnitude=4.5", STRONG)

    await expect(page.locator("#map")).to_have_attribute("data-state", "still")
    await expect(page.locator(".still-notice")).to_have_text(
        "The map cannot be drawn: this browser has no WebGL. This picture shows the largest events."
    )
    await expect(page.locator(".still circle")).to_have_count(STRONG)
    await expect(page.locator(".still-land path")).to_have_count(3)
    await expect(page.locator("#map-caption")).to_have_text(
        "81 events; the largest of magnitude 5.9, 266 km S of Burica, Panama."
    )
    await expect(page.get_by_role("list", name="Time before the newest")).to_be_visible()
    await page.locator(".still circle[data-event-id=us6000kxfl]").dispatch_event("click")
    await expect(page.locator("#list li.selected")).to_have_attribute("data-event-id", "us6000kxfl")
    await expect(page.locator(".still .selected")).to_have_attribute("data-event-id", "us6000kxfl")
    assert not [url for url in visit.requested if "maplibre" in url]
    assert visit.complaints == []


async def test_libraries_that_cannot_be_loaded_are_reported(page: Page, shared: str) -> None:
    for library in ("maplibre-gl-5", "uplot"):
        await page.route(f"**/{library}*.js", lambda route: route.abort())
    await page.goto(f"{shared}/?minMagnitude=4.5")

    await expect(page.locator(".still-notice")).to_have_text(
        "The map cannot be drawn: maplibre-gl.js could not be loaded. This picture shows the largest events."
    )
    await expect(page.locator(".still circle")).to_have_count(STRONG)
    await page.locator("#magnitude-time").scroll_into_view_if_needed()
    await expect(page.locator("#magnitude-time .plot")).to_have_text(
        "The plot cannot be drawn: the library for it could not be loaded."
    )
    await expect(page.locator("#magnitude-time-caption")).to_contain_text(f"{STRONG} events")
