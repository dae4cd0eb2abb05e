"""The page of an event in Chromium, with the real service: what it shows, and how it follows revisions."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, expect

from graph.core.times import rfc3339_of_millis
from graph.domains.earthquakes.scopes import EVENTS_READ
from tests.acceptance.browser import Visit, time_zone
from tests.acceptance.pages.axe import violations
from tests.acceptance.pages.contrast import contrast
from tests.acceptance.pages.dashboard.looking import fits, sent
from tests.acceptance.pages.dashboard.reports import ANNA, People, address
from tests.service import Service, running
from tests.settings import Settings

JAVA = "us6000kxp7"
NILAND = "ci39627442"
NOON = 1691064000000
INGEST = "mutation($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted revised } }"
QUAKE = {"eventId": "us1", "eventTsMs": NOON, "mag": 4.5, "magType": "mb", "lat": -17.9, "lon": 178.5, "depth": 550.0}

pytestmark = pytest.mark.needs("chromium")


def store(service: Service, updated: int = NOON, **others: Any) -> None:
    at = rfc3339_of_millis(updated)
    service.ask(INGEST, {"events": [{**QUAKE, "place": "Fiji region", "updatedAt": at, **others}]})


async def opened_page(page: Page, url: str) -> None:
    await page.goto(url)
    await expect(page.locator("#connection")).to_have_text("Live")
    await expect(page.locator("#neighbours .caption")).not_to_have_text("Loading…")
    await expect(page.locator("#event-map svg[role=img]")).to_have_count(1)


async def facts(page: Page, name: str) -> dict[str, str]:
    """The terms and values of a list."""
    found: dict[str, str] = await page.locator(f"#{name}").evaluate(
        """list => Object.fromEntries([...list.querySelectorAll("dt")].map(
          term => [term.textContent, term.nextElementSibling.textContent]))"""
    )
    return found


async def test_it_shows_what_is_known_and_sends_nothing_to_other_hosts(visit: Visit, week: Service) -> None:
    page = visit.page
    await opened_page(page, f"{week.url}/events/{NILAND}")

    await expect(page).to_have_title("M 4.1 earthquake, 8 km SW of Niland, CA")
    await expect(page.get_by_role("heading", level=1)).to_have_text("M 4.1 earthquake, 8 km SW of Niland, CA")
    await expect(page.locator(".badge")).to_have_text("Magnitude 4.1 mw")
    assert await facts(page, "where") == {
        "Place": "8 km SW of Niland, CA",
        "Time": "2023-08-02 05:38:08 UTC",
        "At the epicentre": "2023-08-01 21:38:08 UTC−8, nautical time zone",
        "Depth": "3.1 km (1.9 mi)",
        "Coordinates": "33.19° N 115.57° W",
    } | {name: text for name, text in (await facts(page, "where")).items() if name == "Your time"}
    assert await facts(page, "effects") == {
        "Felt reports at USGS": "42",
        "Intensity, by USGS's reports": "VII (6.6), very strong",
        "Intensity, by ShakeMap": "V (4.6), moderate",
        "PAGER alert": "green: no damage or casualties expected",
        "Tsunami": "no tsunami message",
    }
    quality = await facts(page, "quality")
    assert {name: quality[name] for name in ("Status", "Stations", "Widest angle without a station")} == {
        "Status": "reviewed",
        "Stations": "67",
        "Widest angle without a station": "89°",
    }
    assert quality["Residuals of travel times, RMS"] == "0.24 s"
    await expect(page.locator("#ids")).to_have_text("Ids: ci39627442, ew1690954690, us6000kx91.")
    await expect(page.get_by_role("link", name="USGS")).to_have_attribute(
        "href", "https://earthquake.usgs.gov/earthquakes/eventpage/ci39627442"
    )
    assert {urlsplit(url).netloc for url in visit.requested} == {urlsplit(week.url).netloc}
    assert visit.complaints == []


async def test_its_neighbours_are_the_largest_and_lead_to_their_pages(page: Page, week: Service) -> None:
    """And the page fits a telephone, with its headings in order, and its keyboard leads to the event."""
    query = f'{{ event(eventId: "{NILAND}") {{ nearby(first: 200) {{ totalCount nodes {{ mag place }} }} }} }}'
    nearby = week.ask(query)["event"]["nearby"]
    await opened_page(page, f"{week.url}/events/{NILAND}")
    for width in (1400, 390):
        await page.set_viewport_size({"width": width, "height": 844})
        await fits(page, width)
    levels = await page.locator("h1, h2, h3").evaluate_all("all => all.map(each => each.localName)")
    assert levels == ["h1", *["h2"] * (len(levels) - 1)]
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the event")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("main")).to_be_focused()

    section = page.get_by_role("region", name="Nearby")
    await expect(section.locator(".caption")).to_have_text(
        f"The 10 largest of {nearby['totalCount']} other events within 100 km and 30 days."
    )
    magnitudes = sorted((node["mag"] for node in nearby["nodes"]), reverse=True)[:10]
    links = section.get_by_role("link")
    shown = [re.findall(r"M (\S+), ", text)[0] for text in await links.all_text_contents()]
    assert shown == [f"{mag:.1f}".replace("-", "−") for mag in magnitudes]
    await expect(section.get_by_role("listitem").first).to_contain_text(
        re.compile(r"km away, 2023-.* UTC, \d+ (minutes|hours|days) (before|after)$")
    )
    place = (await links.first.text_content() or "").partition(", ")[2]
    await links.first.click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text(place)


async def test_an_event_without_neighbours_says_so_and_its_files_are_its_own(page: Page, week: Service) -> None:
    await opened_page(page, f"{week.url}/events/{JAVA}")

    await expect(page.locator("#neighbours .caption")).to_have_text("No other event within 100 km and 30 days.")
    links = page.locator("#exports a")
    await expect(links).to_have_text(["GeoJSON", "CSV", "QuakeML"])
    for link in await links.all():
        answer = week.http.get(await link.get_attribute("href") or "")
        assert answer.status_code == 200
        assert "Java, Indonesia" in answer.text
        assert NILAND not in answer.text


async def test_units_and_zone_are_those_that_were_chosen(page: Page, week: Service) -> None:
    await opened_page(page, f"{week.url}/events/{NILAND}")
    await page.evaluate("localStorage.setItem('units', 'mi'); localStorage.setItem('zone', 'local')")
    await opened_page(page, f"{week.url}/events/{NILAND}")

    assert (await facts(page, "where"))["Depth"] == "1.9 mi (3.1 km)"
    await expect(page.locator("#neighbours .caption")).to_contain_text("within 62 mi and 30 days")


async def test_times_are_in_three_zones_and_badges_have_enough_contrast(page: Page, week: Service) -> None:
    """Where the reader is, by the calendar of that day, and by the longitude of the epicentre."""
    await opened_page(page, f"{week.url}/events/{JAVA}")
    async with time_zone(page, "America/St_Johns"):
        times = await page.evaluate(
            """async () => {
              const from = document.querySelector("script[type=module]").src.replace("page.js", "words.js");
              const { times } = await import(from);
              return [0, 7.4, -7.6, 179.9, -179.9].map(lon => times(1691116304751, lon));
            }"""
        )
    badges = await page.evaluate(
        """async () => {
          const from = document.querySelector("script[type=module]").src.replace("page.js", "facts.js");
          const { badge } = await import(from);
          return [1, 3, 4.5, 5.5, 6.5, 8].map(mag => {
            const made = badge({ mag, magType: "mww" });
            document.body.append(made);
            const { color, backgroundColor } = getComputedStyle(made);
            return [color, backgroundColor];
          });
        }"""
    )

    assert {each["utc"] for each in times} == {"2023-08-04 02:31:44 UTC"}
    assert {each["local"] for each in times} == {"2023-08-04 00:01:44 UTC−2:30, America/St_Johns"}
    assert [each["epicentre"].removesuffix(", nautical time zone") for each in times] == [
        "2023-08-04 02:31:44 UTC",
        "2023-08-04 02:31:44 UTC",
        "2023-08-04 01:31:44 UTC−1",
        "2023-08-04 14:31:44 UTC+12",
        "2023-08-03 14:31:44 UTC−12",
    ]
    ratios = [contrast(*badge) for badge in badges]
    assert len(set(ratios)) == 6
    assert min(ratios) >= 4.5


@pytest.mark.needs("npm")
async def test_a_revision_is_shown_while_the_page_is_open(service: Service, page: Page) -> None:
    """And axe finds nothing on the page, which has a neighbour then, too."""
    store(service)
    await opened_page(page, f"{service.url}/events/us1")
    await expect(page.locator("#revisions tbody tr")).to_have_count(1)
    await expect(page.locator("#revisions .plot")).to_be_hidden()

    store(service, mag=5.25, updated=NOON + 3_600_000)

    await expect(page.get_by_role("heading", level=1)).to_have_text("M 5.3 event, Fiji region")
    await expect(page.locator("#news")).to_have_text("Revised: now version 2, magnitude 5.3, before 4.5.")
    await expect(page.locator("#revisions tbody tr").first).to_have_text(
        "22023-08-03 13:00:00 UTC5.3Revised: magnitude 4.5 → 5.3"
    )
    plot = page.get_by_role("img", name="Magnitude by version: 4.5, 5.3", exact=True)
    await expect(plot.locator("canvas")).to_have_count(1)
    assert await plot.evaluate("place => place.drawn.data") == [[NOON / 1000, NOON / 1000 + 3600], [4.5, 5.25]]
    store(service, mag=5.27, updated=NOON + 7_200_000)
    await expect(page.locator("#revisions tbody tr").first).to_contain_text("magnitude 5.25 → 5.27")
    await expect(plot).to_have_count(0)
    await expect(page.locator("#revisions .plot canvas")).to_have_count(1)
    store(service, eventId="us2", eventTsMs=NOON + 9)
    await opened_page(page, f"{service.url}/events/us1")
    assert await violations(page) == []


async def test_a_deleted_event_says_so_and_keeps_its_values(service: Service, page: Page) -> None:
    store(service)
    await opened_page(page, f"{service.url}/events/us1")
    await expect(page.locator("#notice")).to_be_hidden()

    store(service, updated=NOON + 1, status="deleted")

    await expect(page.locator("#notice")).to_contain_text("Its source has deleted this event")
    await expect(page.locator("#notice")).to_contain_text("These are its last known values.")
    await page.reload()
    await expect(page.locator("#notice")).to_be_visible()
    await expect(page.locator(".badge")).to_have_text("Magnitude 4.5 mb")


async def test_an_event_that_turns_out_to_be_another_one_leads_there(service: Service, page: Page) -> None:
    store(service, eventId="ci9", place="Of Caltech")
    store(service)
    await opened_page(page, f"{service.url}/events/us1")

    store(service, updated=NOON + 2, ids=["us1", "ci9"])

    await expect(page).to_have_url(f"{service.url}/events/ci9")


async def test_text_of_an_event_stays_text_and_only_web_addresses_are_links(service: Service, page: Page) -> None:
    place = "<img src=x onerror=alert(1)>"
    store(service, eventId="us/1", place=place, type="<b>", url="javascript:alert(1)")
    await opened_page(page, f"{service.url}/events/us%2F1")

    await expect(page.get_by_role("heading", level=1)).to_have_text(f"M 4.5 <b>, {place}")
    assert (await facts(page, "where"))["Place"] == place
    await expect(page.locator("main img, main b")).to_have_count(0)
    await expect(page.locator(".actions a")).to_have_count(0)


async def test_the_small_map_has_the_epicentre_in_its_middle_also_across_the_dateline(
    service: Service, page: Page
) -> None:
    store(service)
    await opened_page(page, f"{service.url}/events/us1")
    svg = page.get_by_role("img", name="Map of the land around Fiji region")

    box, dot = await svg.bounding_box(), await svg.locator(".epicentre").bounding_box()
    assert box is not None
    assert dot is not None
    assert dot["x"] + dot["width"] / 2 == pytest.approx(box["x"] + box["width"] / 2, abs=1)
    assert dot["y"] + dot["height"] / 2 == pytest.approx(box["y"] + box["height"] / 2, abs=1)
    steps = await svg.locator(".land").first.evaluate(
        """path => path.getAttribute("d").split("M").slice(1).flatMap(line => {
          const points = line.split("L").map(point => point.split(",").map(Number));
          return points.slice(1).map(([lon, lat], at) => lat > 89 ? 0 : Math.abs(lon - points[at][0]));
        })"""
    )
    assert max(steps) < 60  # degrees: no line runs around the earth


# Sightings, tokens


async def test_it_shows_what_people_report_of_it(page: Page, tmp_path: Path) -> None:
    with running(Settings(store=f"sqlite:///{tmp_path}/own.db")) as service:
        store(service)
        answers = {"felt": 1, "motion": 2, "reaction": 1}
        People(service.url).report(ANNA, lat=-17.9, lon=178.5, eventId="us1", text="It shook!", questionnaire=answers)
        await opened_page(page, f"{service.url}/events/us1")

        reports = page.get_by_role("region", name="What people report now")
        await expect(reports.get_by_role("listitem")).to_contain_text("Shaking")
        await expect(reports.locator("q")).to_have_text("It shook!")
        felt = (await facts(page, "effects"))["Felt here"]
        assert felt == "intensity III (2.7), weak, by 1 report from 1 place"
        await page.goto("about:blank")  # or the service would wait for its subscription


async def test_a_service_without_sightings_is_asked_for_none(page: Page, tmp_path: Path) -> None:
    with running(Settings(store=f"sqlite:///{tmp_path}/own.db", domains=("earthquakes",), fdsn=False)) as service:
        store(service)
        asked = [sent(page, operation) for operation in ("Felt", "Sightings", "LiveSightings")]
        await opened_page(page, f"{service.url}/events/us1")

        await expect(page.locator("#exports a")).to_have_text(["GeoJSON", "CSV"])
        assert asked == [[], [], []]
        await expect(page.locator("#problems")).to_be_empty()
        await page.goto("about:blank")  # or the service would wait for its subscription


async def test_without_public_reading_its_script_asks_with_the_token(page: Page, tmp_path: Path) -> None:
    with running(Settings(store=f"sqlite:///{tmp_path}/own.db", public_read=False)) as service:
        store(service)
        await page.goto(f"{service.url}/events/us1")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Event")
        await expect(page.get_by_role("alert")).not_to_be_empty()

        await page.goto(address(service.url, EVENTS_READ, path="/events/us1"))
        await page.reload()
        await expect(page.get_by_role("heading", level=1)).to_have_text("M 4.5 event, Fiji region")
        await expect(page.get_by_role("alert")).to_be_empty()
        async with page.expect_download() as downloading:
            await page.get_by_role("link", name="CSV").click()
        download = await downloading.value
        assert download.suggested_filename == "events.csv"
        assert download.url.startswith("blob:")
        await page.goto(f"{service.url}/events/us0nothing")
        await expect(page.get_by_role("alert")).to_contain_text("The catalogue has no event “us0nothing”.")
        await page.goto("about:blank")  # or the service would wait for its subscription


# Sharing


async def test_its_address_is_shared(page: Page, week: Service) -> None:
    await opened_page(page, f"{week.url}/events/{JAVA}")
    await page.evaluate(
        """() => {
          globalThis.done = [];
          const put = (object, name, value) => Object.defineProperty(object, name, { value, configurable: true });
          put(navigator, "canShare", () => how === "share");
          put(navigator, "share", async what => { done.push(what); });
          put(navigator, "clipboard", { writeText: async text => {
            if (how === "neither") { throw new DOMException("", "NotAllowedError"); }
            done.push(text);
          } });
        }"""
    )

    url = f"{week.url}/events/{JAVA}"
    said = {"copy": "Address copied.", "neither": f"Copy this address: {url}", "share": ""}
    for how, text in said.items():
        await page.evaluate("how => { globalThis.how = how; }", how)
        await page.get_by_role("button", name="Share").click()
        await expect(page.locator(".outcome")).to_have_text(text)
    assert await page.evaluate("done") == [url, {"title": "M 5.5 earthquake, Java, Indonesia", "url": url}]
