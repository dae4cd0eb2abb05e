"""The dashboard in Chromium, with the demo's week: what it shows, and where its address leads."""

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Page, Route, expect

from graph.domains.earthquakes.scopes import EVENTS_READ
from tests.acceptance.browser import Visit
from tests.acceptance.pages.dashboard.conftest import Opener
from tests.acceptance.pages.dashboard.looking import (
    EVENTS,
    GRAPH,
    STRONG,
    WEEK,
    becomes,
    colour_of,
    drawn,
    items,
    loaded,
    refuse,
    sent,
    settled,
    went,
    with_filters,
)
from tests.acceptance.pages.dashboard.subscription import Subscription, an_event
from tests.bearers import bearer

pytestmark = pytest.mark.needs("chromium")

COLOURING = "document.querySelector('main').shown?.colouring.name"


async def test_it_shows_the_week_and_sends_nothing_to_other_hosts(visit: Visit, whole_week: str) -> None:
    page = visit.page
    await loaded(page, whole_week, WEEK)

    await drawn(page, WEEK)
    await expect(page.locator("#connection")).to_contain_text("Live")
    await expect(page.locator("#summary")).to_have_text(
        "2,124 events since 2023-07-28 02:52 UTC, up to the newest one. The largest: M 5.9, 266 km S of Burica, Panama."
    )
    await expect(page.locator("#map-caption")).to_have_text(
        "2,124 events; the largest of magnitude 5.9, 266 km S of Burica, Panama."
    )
    await expect(page.locator("#magnitude-time-caption")).to_contain_text(
        "2,124 events, from 2023-07-28 03:13 UTC to 2023-08-04 02:52 UTC, magnitudes −1.1 to 5.9."
    )
    await expect(page.locator("#magnitude-frequency-caption")).to_have_text(
        re.compile(
            r"2,071 earthquakes\. Complete from magnitude 0\.9, by maximum curvature\. "
            r"No line is drawn, since the 1,263 earthquakes from there have no common slope: The events mix 15 networks"
        )
    )
    assert len(await items(page)) == 25
    assert (await items(page))[0] == "nc73919986"
    assert {urlsplit(url).netloc for url in visit.requested} == {urlsplit(whole_week).netloc}
    assert visit.complaints == []


async def test_a_filter_changes_address_list_map_and_plots_and_back_and_forward_restore_choices(
    page: Page, shared: str
) -> None:
    least = page.locator("[name=minMagnitude]")
    await loaded(page, shared)
    await with_filters(page)
    await least.fill("4.5")
    await page.get_by_role("button", name="Apply").click()
    await settled(page, STRONG)

    assert urlsplit(page.url).query == "minMagnitude=4.5"
    await drawn(page, STRONG)
    await expect(page.locator("#magnitude-frequency-caption")).to_contain_text("81 earthquakes")
    shown = await items(page)
    assert shown[:2] == ["us6000kxp7", "us6000kxnn"]
    await page.get_by_role("link", name="Next").click()
    await expect(page.locator("#list .caption")).to_contain_text("to 2023-08-01")
    await page.get_by_role("radio", name="Depth").check()
    await becomes(page, COLOURING, "depth")

    await page.go_back()
    await becomes(page, COLOURING, "age")
    await page.go_back()
    await expect(page.locator("#list .caption")).to_contain_text("to 2023-08-04")
    await page.go_back()
    await settled(page)
    await expect(least).to_have_value("")
    await page.go_forward()
    await settled(page, STRONG)
    await expect(least).to_have_value("4.5")

    await page.reload()
    await settled(page, STRONG)
    assert await items(page) == shown
    await expect(least).to_have_value("4.5")


async def test_what_has_not_changed_is_not_sent_again(page: Page, shared: str) -> None:
    """The browser keeps the answers, and the service confirms them."""
    await loaded(page, shared)
    devtools = await page.context.new_cdp_session(page)
    names, statuses = dict[str, str](), dict[str, int]()

    def note_request(sent: dict[str, Any]) -> None:
        if found := parse_qs(urlsplit(sent["request"]["url"]).query).get("query"):
            names[sent["requestId"]] = found[0].split()[1].partition("(")[0]

    devtools.on("Network.requestWillBeSent", note_request)
    devtools.on(
        "Network.responseReceivedExtraInfo",
        lambda answer: statuses.update({answer["requestId"]: answer["statusCode"]}),
    )
    await devtools.send("Network.enable")
    await page.reload()
    await settled(page)
    await expect(page.locator("#connection")).to_contain_text("Live")

    found = {name: statuses[at] for at, name in names.items() if name in ("Newest", "Events", "List", "Statistics")}
    assert found == {"Newest": 304, "Events": 304, "List": 304, "Statistics": 304}


async def test_all_filters_are_sent(page: Page, shared: str) -> None:
    asked = sent(page)
    address = (
        "minMagnitude=2.5&maxMagnitude=6&from=2023-07-30&to=2023-08-01&minDepth=5&maxDepth=100.5"
        "&south=-60&north=60&west=170&east=-60&type=earthquake&colour=depth"
    )
    await page.goto(f"{shared}/?{address}")
    await expect(page.locator("#magnitude-frequency-caption")).to_contain_text(
        "14 events. No Gutenberg–Richter relation: Only 14 events are selected; an estimate needs 50."
    )
    await expect(page.locator("#list .caption")).not_to_be_empty()

    expected = {
        "minMagnitude": 2.5,
        "maxMagnitude": 6,
        "startTime": "2023-07-30T00:00:00.000Z",
        "endTime": "2023-08-01T23:59:59.999Z",
        "minDepth": 5,
        "maxDepth": 100.5,
        "box": {"minLat": -60, "maxLat": 60, "minLon": 170, "maxLon": -60},
        "types": ["earthquake"],
    }
    filters = [variables["filter"] for variables in asked if "filter" in variables]
    assert expected in filters
    assert all(given.items() <= expected.items() for given in filters)
    await expect(page.locator("#filter-number")).to_have_text("8")
    await with_filters(page)
    await page.get_by_role("button", name="Apply").click()
    assert urlsplit(page.url).query == address


async def test_paging_to_older_events_and_back(page: Page, shared: str) -> None:
    """Each turn of the page scrolls to the top of the list. The last page ends."""
    newest, newer, older = (page.get_by_role("link", name=name) for name in ("First", "Previous", "Next"))
    await loaded(page, shared)
    pages = [await items(page)]
    await expect(newer).to_have_attribute("aria-disabled", "true")

    for _ in range(2):
        before = await items(page)
        await older.press("Enter")
        await expect(page.locator(f"#list li[data-event-id={before[-1]}]")).to_have_count(0)
        pages.append(await items(page))
        await expect(page.locator("#list")).to_be_focused()
        await expect(page.locator("#list-title")).to_be_in_viewport()
    assert len({event_id for page_rows in pages for event_id in page_rows}) == 75
    await drawn(page, EVENTS)

    shared_address = page.url
    await newer.click()
    await expect(page.locator(f"#list li[data-event-id={pages[1][0]}]")).to_be_visible()
    assert await items(page) == pages[1]
    await newest.click()
    await expect(page.locator(f"#list li[data-event-id={pages[0][0]}]")).to_be_visible()
    assert urlsplit(page.url).query == ""

    await page.goto("about:blank")
    await page.goto(shared_address)
    await expect(page.locator(f"#list li[data-event-id={pages[2][0]}]")).to_be_visible()
    assert await items(page) == pages[2]
    await went(page, "?minMagnitude=5.5")
    await expect(page.locator("#list .caption")).to_contain_text("11 events")
    await expect(older).to_have_attribute("aria-disabled", "true")


async def test_an_event_is_selected_by_keyboard_and_its_card_opens_beside_what_is_clicked(
    page: Page, shared: str
) -> None:
    """With a key for it, a link of the list leads to the event's page in another tab."""
    await loaded(page, f"{shared}/?minMagnitude=4.5", STRONG)
    java, palmira = (page.locator(f"#list li[data-event-id={each}] a") for each in ("us6000kxp7", "us6000kxnn"))
    await java.focus()
    await page.keyboard.press("ArrowDown")
    await expect(palmira).to_be_focused()
    await page.keyboard.press("Enter")

    await expect(palmira).to_have_attribute("aria-current", "true")
    card = page.get_by_role("dialog")
    for text in ("7 km ESE of Palmira, Colombia", "2023-08-03 22:09:36", "160.4 km"):
        await expect(card).to_contain_text(text)
    await page.keyboard.press("Escape")
    await expect(card).to_be_hidden()
    await expect(palmira).to_be_focused()
    await expect(palmira).not_to_have_attribute("aria-current", "true")

    clicked = page.locator("#list li a").nth(2)
    await clicked.click()
    item, box = await clicked.bounding_box(), await card.bounding_box()
    assert item
    assert box
    assert abs(box["x"] + box["width"] - item["x"]) < 40  # the list is at the right edge, so it is to its left
    assert box["y"] <= item["y"] + item["height"]
    assert item["y"] <= box["y"] + box["height"]

    await expect(java).to_have_attribute("href", "events/us6000kxp7")
    async with page.context.expect_page() as opening:
        await java.click(modifiers=["ControlOrMeta"])
    other = await opening.value
    await expect(other.locator("h1")).to_contain_text("Java, Indonesia")
    await other.close()


async def test_colour_tells_age_or_depth(page: Page, shared: str) -> None:
    deep = page.locator("#list li[data-event-id=us6000kxp7] .magnitude")  # 578 km, of the last three hours
    await loaded(page, f"{shared}/?minMagnitude=4.5", STRONG)
    await expect(deep).to_have_class("magnitude c1")
    assert await colour_of(page, "us6000kxp7") == "c1"
    recent = await deep.evaluate("item => getComputedStyle(item).color")

    await page.get_by_role("radio", name="Depth").check()

    await becomes(page, COLOURING, "depth")
    await expect(deep).to_have_class("magnitude c5")
    assert await colour_of(page, "us6000kxp7") == "c5"
    assert await deep.evaluate("item => getComputedStyle(item).color") != recent
    assert urlsplit(page.url).query == "minMagnitude=4.5&colour=depth"


async def test_invalid_parameters_of_an_address_are_reported_and_ignored(visit: Visit, shared: str) -> None:
    """So are invalid values of the form, of which the browser complains, too."""
    page, alert = visit.page, visit.page.get_by_role("alert")
    impossible = {
        "minMagnitude=abc": "Magnitude, Min",
        "minMagnitude=11": "Magnitude, Min",
        "minMagnitude=4.55": "Magnitude, Min",
        "from=yesterday": "Time, From",
        "from=2023-13-01": "Time, From",
        "minDepth=0&maxDepth=-1": "Depth, Max",
        "period=century": "Time, Period",
        "significant=yes": "Magnitude, Significant only",
    }
    texts = {
        address: f"{field}: the address says “{address.rpartition('=')[2]}”, which is not possible, so it is left out."
        for address, field in impossible.items()
    } | {
        "sort=best": "Sort: there is no “best”.",
        "south=10&north=20": "Area: it takes all four edges, so it is left out.",
        "colour=mood": "Colour by: there is no “mood”.",
    }
    await page.goto(f"{shared}/?{next(iter(texts))}")
    for address, text in texts.items():
        await went(page, f"?{address}")
        await expect(alert).to_have_text(text)
    await settled(page)
    await went(page, "?minMagnitude=4.5&maxMagnitude=3")
    await expect(alert).to_have_text("Magnitude: Min is beyond Max, so Max is left out.")
    await settled(page, STRONG)

    await with_filters(page)
    await page.locator("[name=minDepth]").fill("-5")
    await page.get_by_role("button", name="Apply").click()
    await expect(alert).to_contain_text("Depth, Min: ")
    assert "minDepth" not in urlsplit(page.url).query
    await page.get_by_role("link", name="Clear").click()
    await expect(alert).to_be_empty()
    await expect(page.locator("[name=minDepth]")).to_have_value("")
    await settled(page)


async def test_a_problem_is_shown_until_it_is_solved(page: Page, shared: str) -> None:
    """Also after what asks for nothing anew: another colouring, another page of the list, the way to the list."""
    await refuse(page, ["Events"])
    await page.goto(f"{shared}/?maxDepth=deep")
    await expect(page.locator("#list li")).to_have_count(25)
    wrong = ["No Events.", "Depth, Max: the address says “deep”, which is not possible, so it is left out."]
    told = page.get_by_role("alert").locator("p")
    await expect(told).to_have_text(wrong)

    await page.get_by_role("radio", name="Depth").check()
    await expect(page.get_by_role("list", name="Depth")).to_be_visible()
    await expect(told).to_have_text(wrong)
    newest = await items(page)
    await page.get_by_role("link", name="Next").click()
    await expect(page.locator(f"#list li[data-event-id={newest[0]}]")).to_have_count(0)
    await expect(told).to_have_text(wrong)
    await page.get_by_role("link", name="Skip to the list").press("Enter")
    await expect(page).to_have_url(re.compile("#list$"))
    await expect(told).to_have_text(wrong)

    await page.unroute(GRAPH)
    await page.get_by_role("button", name="Try again").click()
    await drawn(page, EVENTS)
    await expect(told).to_have_text(wrong[1:])


async def test_problems_come_and_go_one_by_one(page: Page, subscription: Subscription) -> None:
    """What is still told is not written again, and the button keeps its focus."""
    refused = ["List", "Statistics"]
    await refuse(page, refused)
    await page.goto(subscription.url)
    alert = page.get_by_role("alert")
    await expect(alert.locator("p")).to_have_count(2)
    await expect(page.locator("#connection")).to_contain_text("Live")
    await alert.get_by_role("button").focus()
    await page.evaluate(
        """() => {
          window.written = [];
          const note = (changes) => changes.forEach(({ addedNodes }) => window.written.push(...addedNodes));
          new MutationObserver(note).observe(document.querySelector("#problems"), { childList: true });
        }"""
    )

    refused.remove("Statistics")
    subscription.notice(an_event("new1"))

    await expect(alert.locator("p")).to_have_text(["No List."])
    await expect(alert.get_by_role("button", name="Try again")).to_be_focused()
    assert await page.evaluate("window.written.length") == 0


async def test_what_a_service_cannot_answer_is_reported_in_the_words_of_the_page_and_retried(
    page: Page, shared: str
) -> None:
    """A failed load is not shown as no match."""
    alert = page.get_by_role("alert")
    answers: list[tuple[int, str]] = []

    async def answer(route: Route) -> None:
        if answers:
            status, body = answers[0]
            await route.fulfill(status=status, body=body)
        else:
            await route.abort()

    await page.route(GRAPH, answer)
    await page.goto(shared)
    await expect(alert).to_contain_text("The service cannot be reached")
    await expect(page.locator("#summary")).to_have_text("The events could not be loaded.")
    await expect(page.locator("#connection")).to_have_text("Not live: the events could not be loaded")
    await went(page, "?from=2023-08-01")
    await expect(alert).to_contain_text("The service cannot be reached")
    await expect(page.locator("#summary")).to_have_text("The events could not be loaded.")
    await went(page, "")

    error = {"message": "`minMagnitude` must not be greater than `maxMagnitude`."}
    for status, body, text in (
        (200, '{"data": {"events": {"no', "The answer was cut off, or cannot be read."),
        (502, "", "The service answered 502."),
        (200, json.dumps({"errors": [error]}), "“Min magnitude” must not be greater than “Max magnitude”."),
    ):
        answers[:] = [(status, body)]
        await alert.get_by_role("button", name="Try again").click()
        await expect(alert.locator("p")).to_have_text([text])

    await page.unroute(GRAPH)
    await alert.get_by_role("button", name="Try again").click()
    await settled(page)
    await expect(alert).to_be_empty()


async def test_an_invalid_cursor_affects_only_the_list_and_a_filter_without_matches_is_reported(
    page: Page, shared: str
) -> None:
    await page.goto(f"{shared}/?after=nonsense")
    await expect(page.get_by_role("alert")).to_contain_text(
        "The address leads to a page of the list that does not exist. Go to the first page."
    )
    await drawn(page, EVENTS)
    await expect(page.locator("#summary")).to_contain_text(f"{EVENTS} events")

    await went(page, "?minMagnitude=9")
    await expect(page.locator("#summary")).to_have_text("No event matches these filters.")
    await expect(page.locator("#map-caption")).to_have_text("No event to show.")
    await expect(page.locator("#list .caption")).to_have_text("No events.")
    await expect(page.locator("#magnitude-frequency-caption")).to_contain_text(
        "No Gutenberg–Richter relation: Only 0 events are selected"
    )


async def test_an_empty_catalogue_shows_how_to_fill_it_and_then_its_first_event(page: Page, opened: Opener) -> None:
    subscription = opened(empty=True)
    await page.goto(subscription.url)

    await expect(page.locator("#summary")).to_contain_text("quakegraph ingest --feed ALL_WEEK")
    await expect(page.locator("#connection")).to_contain_text("Live")
    await expect(page.locator("#map")).to_have_attribute("data-state", "still")
    await expect(page.locator("#map-caption")).to_have_text("No event to show.")
    await expect(page.locator("#list .caption")).to_have_text("No events.")
    await expect(page.locator("#magnitude-frequency-caption")).to_contain_text("No Gutenberg–Richter relation")
    for plot in ("magnitude-time", "event-rates", "depth-section", "magnitude-frequency"):
        await expect(page.locator(f"#{plot} canvas")).to_have_count(0)
    assert subscription.asked == [{"filter": {}, "after": None}]

    subscription.arrive(an_event("new1"))

    await expect(page.locator("#summary")).to_have_text("1 event.")
    assert await items(page) == ["new1"]


async def test_a_token_from_the_address_is_sent_and_not_shown(visit: Visit, opened: Opener) -> None:
    """Also to a page that is open, and for an export. It lasts as long as the tab."""
    subscription = opened(public_read=False)
    page = visit.page
    await page.goto(f"{subscription.url}/?minMagnitude=4.5")
    await expect(page.get_by_role("alert")).to_contain_text("token")

    authorization = bearer(EVENTS_READ)["Authorization"]
    token = authorization.removeprefix("Bearer ")
    await loaded(page, f"{subscription.url}/?minMagnitude=4.5#token={token}", STRONG)
    assert page.url == f"{subscription.url}/?minMagnitude=4.5"
    await expect(page.get_by_role("alert")).to_be_empty()
    await page.reload()
    await settled(page, STRONG)
    await expect(page.locator("#connection")).to_contain_text("Live")

    assert [headers["authorization"] for headers in subscription.headers] == [authorization] * 2
    await page.locator("#export summary").click()
    async with page.expect_download() as downloading:
        await page.get_by_role("link", name="CSV").click()
    download = await downloading.value
    assert download.suggested_filename == "events.csv"
    assert len((await download.path()).read_text().splitlines()) == 1 + STRONG
    assert token not in await page.evaluate("JSON.stringify(localStorage)")
    assert token not in "".join(visit.requested)
    await page.evaluate("sessionStorage.setItem('token', 'expired')")
    await page.get_by_role("link", name="CSV").click()
    await expect(page.get_by_role("alert")).to_have_text("Your token was not accepted: it cannot be read.")


async def test_without_javascript_it_says_where_the_events_are(page: Page, shared: str) -> None:
    browser = page.context.browser
    assert browser
    page = await browser.new_page(java_script_enabled=False)
    await page.goto(shared)

    notice = page.locator("noscript p")  # whose text is none to Playwright's other locators
    await expect(notice).to_be_visible()
    await expect(notice).to_contain_text("This page draws with JavaScript, which is switched off here.")
    await expect(notice.locator("a")).to_have_attribute("href", "graphql")
    await page.close()
