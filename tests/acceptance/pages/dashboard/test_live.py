"""The subscription on the page: what arrives, what breaks, and what is said of it."""

import asyncio
import json
import re
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.acceptance.pages.dashboard.conftest import Opener
from tests.acceptance.pages.dashboard.looking import (
    EARTHQUAKES,
    EVENTS,
    GRAPH,
    STRONG,
    WEEK,
    becomes,
    colour_of,
    document_of,
    drawn,
    is_drawn,
    items,
    live,
    loaded,
    settled,
    stop_clock,
    variables_of,
    with_filters,
)
from tests.acceptance.pages.dashboard.subscription import Subscription, an_event, store
from tests.service import Service

pytestmark = pytest.mark.needs("chromium")

COLOURING = "document.querySelector('main').shown?.colouring.name"

BIG = {"eventId": "big1", "eventTsMs": 1691118000000, "mag": 6.3, "place": "Brig, Switzerland", "lat": 46.3, "lon": 8.0}


async def pause(page: Page) -> int:
    """Seconds until a page connects again, as it says."""
    return int(re.findall(r"\d+", await page.locator("#connection").text_content() or "")[0])


# With the service's own subscription


async def test_an_event_is_received_revised_and_deleted_while_the_page_is_open(own_week: Service, page: Page) -> None:
    await live(page, own_week.url, WEEK)
    first = page.locator("#list li").first
    mutation = "mutation Store($event: EventInput!) { ingestEvents(input: {events: [$event]}) { upserted revised } }"

    own_week.ask(mutation, {"event": BIG})
    await expect(first).to_have_attribute("data-event-id", "big1")
    await expect(page.locator("#summary")).to_contain_text("2,125 events")
    await is_drawn(page, "big1")
    await expect(page.locator("#magnitude-frequency-caption")).to_contain_text("2,072 earthquakes")
    await expect(page.locator("#connection")).to_contain_text("Live")

    revised = BIG | {"place": "Another place", "updatedAt": "2023-08-04T03:00:00.001Z"}
    assert own_week.ask(mutation, {"event": revised}) == {"ingestEvents": {"upserted": 0, "revised": 1}}
    await expect(first.locator(".place")).to_have_text("Another place")
    await expect(page.locator("#summary")).to_contain_text("2,125 events")

    deleted = revised | {"status": "deleted", "updatedAt": "2023-08-04T03:00:00.002Z"}
    assert own_week.ask(mutation, {"event": deleted}) == {"ingestEvents": {"upserted": 0, "revised": 1}}
    await expect(page.locator("#summary")).to_contain_text("2,124 events")
    await expect(page.locator("#list li[data-event-id=big1]")).to_have_count(0)
    await is_drawn(page, "big1", drawn=False)


# With a subscription that does what it is told


async def test_a_page_that_is_left_ends_its_connections_and_resumes_when_it_is_shown_again(
    page: Page, subscription: Subscription
) -> None:
    """The browser keeps pages that were left, and opens six connections to a service."""
    for number in range(8):
        await page.goto(f"{subscription.url}/?n={number}")
        await expect(page.locator("#connection")).to_contain_text("Live")
    subscription.has_listeners(1)

    subscription.notice(an_event("big1", place="\u202eBrig"), cursor="seen")
    await expect(page.locator("#list li[data-event-id=big1] .place")).to_have_text("Brig")  # nothing turns the line
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    subscription.has_listeners(0)
    asked = len(subscription.asked)
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    subscription.has_listeners(1)
    assert [each["after"] for each in subscription.asked[asked:]] == ["seen"]
    await expect(page.locator("#connection")).to_contain_text("Live")


async def test_a_new_event_is_shown_everywhere_and_announced_and_moves_nothing_else(
    page: Page, subscription: Subscription
) -> None:
    """Focus, selection and scrolling stay. What has not changed is not written again: screen readers would tell it."""
    await live(page, subscription.url)
    link = page.locator("#list li[data-event-id=nc73919986] a")
    await link.click()
    await link.focus()
    await page.evaluate(
        """() => {
          scrollTo(0, 0);
          window.written = [];
          const summary = document.querySelector("#summary");
          new MutationObserver(() => window.written.push(summary.textContent)).observe(summary, { childList: true });
        }"""
    )

    subscription.arrive(an_event("new1"))

    first = page.locator("#list li").first
    await expect(first).to_have_attribute("data-event-id", "new1")
    await first.evaluate("row => row.dataset.made = 'once'")
    await expect(page.locator("#magnitude-time .arrival")).to_have_count(1)
    await drawn(page, EVENTS + 1)
    await expect(page.locator("#map-caption")).to_contain_text(
        f"{EVENTS + 1} events; the largest of magnitude 6.3, Brig"
    )
    await expect(page.locator("#magnitude-time-caption")).to_contain_text("to 2023-08-04 03:00 UTC")
    await expect(page.get_by_role("log")).to_have_text("New: magnitude 6.3, Brig, Switzerland, 2023-08-04 03:00 UTC.")
    await expect(page.locator("#list .caption")).to_contain_text(f"of {EVENTS + 1}")
    await expect(page.locator("#magnitude-frequency-caption")).to_contain_text(f"{EARTHQUAKES + 1} earthquakes")
    start = f"{EVENTS + 1} events since 2023-07-28 02:52 UTC, up to the newest one. The largest: "
    assert await page.evaluate("window.written") == [
        f"{start}M 5.9, 266 km S of Burica, Panama.",
        f"{start}M 6.3, Brig, Switzerland.",  # once the service has counted it
    ]
    await page.evaluate("document.getAnimations().forEach(each => each.finish())")
    await expect(page.locator("#magnitude-time .arrival")).to_have_count(0)
    assert len(await items(page)) == 25
    assert await page.evaluate("scrollY") == 0
    await expect(first).to_have_attribute("data-made", "once")
    await expect(link).to_be_focused()
    await expect(link).to_have_attribute("aria-current", "true")
    await expect(page.get_by_role("dialog")).to_contain_text("Larkfield-Wikiup")
    await expect(page.locator("#magnitude-time .selection")).to_be_visible()

    last = page.locator("#list li").last
    pushed_out = await last.get_attribute("data-event-id")
    await last.locator("a").focus()
    subscription.notice(an_event("new2"))
    await expect(last).not_to_have_attribute("data-event-id", pushed_out or "")
    await expect(last.locator("a")).to_be_focused()


async def test_a_new_event_is_counted_once(page: Page, subscription: Subscription) -> None:
    """The service may say again what the page knows: from the list, or from before a connection broke. Or nothing."""
    await live(page, subscription.url)
    store(subscription.url, *map(an_event, ("new1", "new2", "new3")))

    subscription.notice(None)
    for event_id in ("nc73919986", "new1", "new1", "new2"):
        subscription.notice(an_event(event_id))
    await drawn(page, EVENTS + 2)
    subscription.notice(an_event("new1"))
    subscription.notice(an_event("new3"))

    await drawn(page, EVENTS + 3)
    await expect(page.locator("#summary")).to_contain_text(f"{EVENTS + 3} events")
    assert sorted((await items(page))[:4]) == ["nc73919986", "new1", "new2", "new3"]


async def test_many_new_events_are_announced_together(page: Page, subscription: Subscription) -> None:
    await live(page, subscription.url)

    events = [an_event(f"new{n}", eventTsMs=1691118000000 + n, mag=1 + n / 20) for n in range(60)]
    store(subscription.url, *events)
    for event in events:
        subscription.notice(event)

    await expect(page.locator("#summary")).to_contain_text(f"{EVENTS + 60} events")
    await expect(page.get_by_role("log")).to_have_text(
        re.compile(r"^60 new events, the largest of magnitude 4\.0, Brig")
    )
    assert await items(page) == [f"new{number}" for number in range(59, 34, -1)]


async def test_a_new_event_of_an_older_page_is_not_on_this_page_and_one_of_the_first_moves_nothing_on_the_next(
    page: Page, opened: Opener
) -> None:
    subscription = opened(page_size=10, max_page_size=20)
    await live(page, f"{subscription.url}/?minMagnitude=4.5", STRONG)
    await drawn(page, STRONG)  # from small pages of the graph
    newest = await items(page)
    assert len(newest) == 20
    subscription.arrive(an_event("old1", eventTsMs=1690700000000))  # 2023-07-30, among the older pages
    subscription.arrive(an_event("new1"))
    await is_drawn(page, "old1")
    await is_drawn(page, "new1")
    assert await items(page) == ["new1", *newest[:-1]]

    await page.get_by_role("link", name="Next").click()
    await expect(page.locator(f"#list li[data-event-id={newest[-2]}]")).to_have_count(0)
    shown = await items(page)
    subscription.arrive(an_event("new2"))
    await drawn(page, STRONG + 3)
    await expect(page.locator("#list .caption")).to_contain_text(f"of {STRONG + 3}")
    assert await items(page) == shown


async def test_new_events_that_lengthen_the_week_keep_the_colours(page: Page, subscription: Subscription) -> None:
    await page.emulate_media(reduced_motion="reduce")
    await live(page, subscription.url)
    classes = page.get_by_role("list", name="Time before the newest").get_by_role("listitem")
    labels = ["≤ an hour", "≤ 6 hours", "≤ a day", "≤ 3 days", "older"]
    await expect(classes).to_have_text(labels)

    subscription.notice(an_event("new1", eventTsMs=1691117533180 + 24 * 3600 * 1000))  # a day after the newest

    await expect(page.locator("#magnitude-time .arrival")).to_have_css("animation-name", "none")
    await is_drawn(page, "new1")
    assert await colour_of(page, "new1") == "c1"
    assert await colour_of(page, "nc73919986") == "c3"
    await expect(classes).to_have_text(labels)


async def test_after_a_lost_connection_it_resumes_from_the_last_cursor(
    own_page: Page, subscription: Subscription
) -> None:
    """So it does after an announced end. What the service has dropped is loaded; after its error there is no more."""
    page, connection = own_page, own_page.locator("#connection")
    await page.clock.install()
    await live(page, subscription.url)
    subscription.notice(an_event("new1"), cursor="behind new1")
    await is_drawn(page, "new1")

    await stop_clock(page)
    subscription.break_off()
    await expect(connection).to_have_text(re.compile(r"Reconnecting in 1 s: "))
    await page.clock.resume()
    await expect(connection).to_contain_text("Live")
    assert [asked["after"] for asked in subscription.asked][1:] == ["behind new1"]
    subscription.notice(an_event("gone"))  # which the catalogue does not have
    await is_drawn(page, "gone")

    subscription.notice(None, lost=12)
    await is_drawn(page, "gone", drawn=False)
    await settled(page)
    await expect(connection).to_contain_text("Live")
    assert len(subscription.asked) == 3

    await stop_clock(page)
    subscription.complete()
    await expect(connection).to_have_text("Reconnecting in 1 s: the service ended the connection")
    await page.clock.fast_forward(1000)
    await expect(connection).to_contain_text("Live")

    errors = [{"message": "The token has expired.", "extensions": {"code": "UNAUTHENTICATED"}}]
    subscription.send(f"event: next\ndata: {json.dumps({'data': None, 'errors': errors})}\n\n")
    await expect(connection).to_have_text("Not live: The token has expired.")


async def test_a_connection_that_falls_silent_is_replaced(own_page: Page, subscription: Subscription) -> None:
    await own_page.clock.install()
    await live(own_page, subscription.url)
    await stop_clock(own_page)
    await own_page.evaluate(
        """() => {
          const set = setTimeout;
          window.setTimeout = (...all) => (all[1] === 40_000 && console.log("heard"), set(...all));
        }"""
    )
    for _ in range(3):  # heart-beats
        await own_page.clock.fast_forward(30_000)
        async with own_page.expect_event("console", lambda message: message.text == "heard"):
            subscription.send(":\n\n")
    await expect(own_page.locator("#connection")).to_contain_text("Live")
    assert len(subscription.asked) == 1

    await own_page.clock.fast_forward(41_000)

    await expect(own_page.locator("#connection")).to_have_text("Reconnecting in 1 s: the connection fell silent")
    await own_page.clock.fast_forward(1000)
    await expect(own_page.locator("#connection")).to_contain_text("Live")
    assert len(subscription.asked) == 2


async def test_pauses_grow_while_it_fails_and_are_short_again_after_a_notice(
    own_page: Page, subscription: Subscription
) -> None:
    connection = own_page.locator("#connection")
    await own_page.clock.install()
    await live(own_page, subscription.url)
    pauses = (2, 4, 8, 16, 32)
    overloaded = {"extensions": {"code": "OVERLOADED"}}
    subscription.refusals.extend((503, {"message": f"Up to {most} s.", **overloaded}) for most in pauses)
    await stop_clock(own_page)
    subscription.break_off()
    await expect(connection).to_have_text(re.compile(r"Reconnecting in 1 s: "))
    seconds = 1
    for most in pauses:
        await own_page.clock.fast_forward(1000 * seconds)
        await expect(connection).to_have_text(re.compile(rf"Reconnecting in \d+ s: Up to {most} s\."))
        seconds = await pause(own_page)
        assert most / 2 <= seconds <= most
    assert len(subscription.asked) == 1 + len(pauses)

    await own_page.clock.fast_forward(1000 * seconds)
    await expect(connection).to_contain_text("Live")
    await own_page.clock.resume()
    subscription.notice(an_event("new1"))
    await is_drawn(own_page, "new1")
    await stop_clock(own_page)
    subscription.break_off()
    await expect(connection).to_have_text(re.compile(r"Reconnecting in 1 s: "))


async def test_the_pauses_grow_while_it_opens_and_fails_and_are_short_again_once_it_lasts(
    own_page: Page, subscription: Subscription
) -> None:
    connection = own_page.locator("#connection")
    error = {"errors": [{"message": "Later.", "extensions": {"code": "RATE_LIMITED"}}]}
    await own_page.clock.install()
    await live(own_page, subscription.url)
    await stop_clock(own_page)
    for most in (1, 2, 4, 8, 16):
        subscription.send(f"event: next\ndata: {json.dumps(error)}\n\n")
        await expect(connection).to_contain_text("Reconnecting in ")
        seconds = await pause(own_page)
        assert most / 2 <= seconds <= most
        await own_page.clock.fast_forward(1000 * seconds)
        await expect(connection).to_contain_text("Live")

    await own_page.clock.fast_forward(30_000)
    subscription.break_off()
    await expect(connection).to_have_text(re.compile(r"Reconnecting in 1 s: "))


async def test_back_on_the_network_it_waits_no_longer(own_page: Page, subscription: Subscription) -> None:
    await own_page.clock.install()
    await live(own_page, subscription.url)
    await stop_clock(own_page)
    subscription.break_off()
    await expect(own_page.locator("#connection")).to_contain_text("Reconnecting")

    await own_page.evaluate("dispatchEvent(new Event('online'))")

    await expect(own_page.locator("#connection")).to_contain_text("Live")


async def test_a_permanent_refusal_is_shown_and_not_retried(page: Page, subscription: Subscription) -> None:
    for number, status in enumerate((403, 200), start=1):
        subscription.refusals.append((status, {"message": "Not for you.", "extensions": {"code": "FORBIDDEN"}}))
        await loaded(page, subscription.url)

        await expect(page.locator("#connection")).to_have_text("Not live: Not for you.")
        assert len(subscription.asked) == number


async def test_typed_values_stay_until_they_are_applied(page: Page, subscription: Subscription) -> None:
    await live(page, subscription.url)
    least = page.locator("[name=minMagnitude]")
    await with_filters(page)
    await least.fill("4.5")

    await page.get_by_role("radio", name="Depth").check()
    await becomes(page, COLOURING, "depth")
    newest = await items(page)
    await page.get_by_role("link", name="Next").click()
    await expect(page.locator(f"#list li[data-event-id={newest[0]}]")).to_have_count(0)
    subscription.notice(an_event("gone"))
    await is_drawn(page, "gone")
    subscription.notice(None, lost=1)
    await is_drawn(page, "gone", drawn=False)
    await settled(page)

    await expect(least).to_have_value("4.5")
    await becomes(page, COLOURING, "depth")
    await with_filters(page)
    await least.press("Enter")
    await settled(page, STRONG)
    since = "2023-07-28T02:52:13.180Z"  # a week before the newest event
    assert [asked["filter"] for asked in subscription.asked] == [
        *[{"startTime": since}] * 2,
        {"minMagnitude": 4.5, "startTime": since},
    ]


async def test_events_that_arrive_while_the_page_loads_are_shown_once(page: Page, subscription: Subscription) -> None:

    async def arrive_first(route: Route) -> None:
        """What a page of events brings, the subscription has told before."""
        if "query Events(" not in document_of(route.request):
            await route.continue_()
            return
        answer = await route.fetch()
        newest, *_ = (await answer.json())["data"]["events"]["nodes"]
        subscription.notice(newest)
        await is_drawn(page, newest["eventId"])
        await route.fulfill(response=answer)

    await page.route(GRAPH, arrive_first)
    await live(page, subscription.url)

    await drawn(page, EVENTS)
    assert len(set(await items(page))) == len(await items(page)) == 25
    assert [asked["after"] for asked in subscription.asked] == [None]


async def test_no_event_is_missed_between_the_first_query_and_the_subscription(
    page: Page, subscription: Subscription
) -> None:
    asked: list[str] = []

    async def store_and_note(route: Route) -> None:
        asked.append(re.findall(r"(?:query|subscription) (\w+)", document_of(route.request))[0])
        if asked[-1] == "Live":
            store(subscription.url, an_event("stored1"))
        await route.continue_()

    await page.route(GRAPH, store_and_note)
    await page.goto(subscription.url)
    await settled(page, EVENTS + 1)

    of_events = [name for name in asked if "Sightings" not in name]
    assert of_events[:2] == ["Newest", "Live"]
    assert sorted(of_events[2:5]) == ["Events", "List", "Statistics"]
    assert (await items(page))[0] == "stored1"
    await expect(page.locator("#magnitude-frequency-caption")).to_contain_text(f"{EARTHQUAKES + 1} earthquakes")


async def test_an_event_shown_first_on_the_map_reaches_the_list_and_the_counts(
    page: Page, subscription: Subscription
) -> None:

    async def store_between(route: Route) -> None:
        """The map is loaded behind the list and the statistics, and has what is stored in between."""
        if "query Events(" in document_of(route.request) and variables_of(route.request)["after"] is None:
            await expect(page.locator("#list .caption")).to_contain_text(f"of {EVENTS}")
            await expect(page.locator("#magnitude-frequency-caption")).to_contain_text(f"{EARTHQUAKES} earthquakes")
            store(subscription.url, an_event("new1"))
        await route.continue_()

    await page.route(GRAPH, store_between)
    await page.goto(subscription.url)
    await is_drawn(page, "new1")
    await page.unroute(GRAPH)
    subscription.notice(an_event("new1"))

    await expect(page.locator("#list li").first).to_have_attribute("data-event-id", "new1")
    await expect(page.locator("#list .caption")).to_contain_text(f"of {EVENTS + 1}")
    await expect(page.locator("#summary")).to_contain_text(f"{EVENTS + 1} events")
    await expect(page.locator("#magnitude-frequency-caption")).to_contain_text(f"{EARTHQUAKES + 1} earthquakes")


async def test_without_a_cursor_events_stored_during_a_break_are_loaded(
    own_page: Page, subscription: Subscription
) -> None:
    await own_page.clock.install()
    await live(own_page, subscription.url)
    await stop_clock(own_page)
    subscription.break_off()
    await expect(own_page.locator("#connection")).to_contain_text("Reconnecting")
    store(subscription.url, an_event("stored1"))

    await own_page.clock.resume()

    await is_drawn(own_page, "stored1")
    await expect(own_page.locator("#list li").first).to_have_attribute("data-event-id", "stored1")
    assert [asked["after"] for asked in subscription.asked] == [None, None]


async def test_the_page_loads_even_if_the_stream_is_delayed(page: Page, subscription: Subscription) -> None:
    passes = asyncio.Event()

    async def hold_back(route: Route) -> None:
        if route.request.headers["accept"] == "text/event-stream":
            await passes.wait()
        await route.continue_()

    await page.route(GRAPH, hold_back)
    await loaded(page, subscription.url)
    await expect(page.locator("#connection")).to_have_text("Connecting…")
    store(subscription.url, an_event("stored1"))

    passes.set()

    await expect(page.locator("#connection")).to_contain_text("Live")
    await is_drawn(page, "stored1")
    await expect(page.locator("#list .caption")).to_contain_text(f"of {EVENTS + 1}")
    assert len(subscription.asked) == 1


async def test_after_more_than_a_page_of_new_events_everything_is_loaded_again(own_page: Page, opened: Opener) -> None:
    subscription = opened(page_size=10, max_page_size=20)
    await own_page.clock.install()
    await live(own_page, f"{subscription.url}/?minMagnitude=4.5", STRONG)
    await stop_clock(own_page)
    subscription.break_off()
    await expect(own_page.locator("#connection")).to_contain_text("Reconnecting")
    store(subscription.url, *(an_event(f"stored{number}", eventTsMs=1691118000000 + number) for number in range(50)))

    await own_page.clock.resume()

    await settled(own_page, STRONG + 50)
    assert await items(own_page) == [f"stored{number}" for number in range(49, 29, -1)]


async def test_a_failed_load_is_repeated_when_the_stream_is_open(page: Page, subscription: Subscription) -> None:
    later = {"message": "Later.", "extensions": {"code": "DATABASE_UNAVAILABLE"}}
    subscription.refusals.append((503, later))
    mended = asyncio.Event()

    async def refuse(route: Route) -> None:
        if route.request.headers["accept"] == "text/event-stream" and not subscription.refusals:
            await mended.wait()
        if "query Events(" in document_of(route.request) and not mended.is_set():
            await route.fulfill(status=503, json={"errors": [later]})
        else:
            await route.continue_()

    await page.route(GRAPH, refuse)
    await page.goto(subscription.url)
    await expect(page.get_by_role("alert")).to_contain_text("Later.")
    await expect(page.locator("#summary")).to_have_text(
        f"{EVENTS} events since 2023-07-28 02:52 UTC, up to the newest one. "
        "The largest: M 5.9, 266 km S of Burica, Panama."
    )

    mended.set()

    await settled(page)
    await drawn(page, EVENTS)
    await expect(page.locator("#connection")).to_contain_text("Live")
    await expect(page.get_by_role("alert")).to_be_empty()
    await expect(page.get_by_role("log")).to_be_empty()


# The stream


async def test_the_stream_is_parsed_by_the_standard(page: Page, shared: str) -> None:
    streams: list[tuple[list[str], list[tuple[str, str]]]] = [
        (["event: next\ndata: {}\n\n"], [("next", "{}")]),
        (["event:next\ndata:{}\n\n"], [("next", "{}")]),
        (["data: a\n\ndata: b\n\n"], [("message", "a"), ("message", "b")]),
        (["data: a\ndata:  b\n\n"], [("message", "a\n b")]),
        (["data: a\r\n\r\ndata: b\r\rdata: c\n\n"], [("message", "a"), ("message", "b"), ("message", "c")]),
        (["data: a\r", "\n\r", "\ndata: b\r\n\r\n"], [("message", "a"), ("message", "b")]),
        (list("event: next\ndata: a: b\n\n"), [("next", "a: b")]),
        (["event: complete\n\n"], [("complete", "")]),
        (["event: complete\ndata:\n\n"], [("complete", "")]),
        ([":\n\n", ": heart-beat\n\n"], []),
        (["id: 1\nretry: 5\nunknown\ndata: a\n\n"], [("message", "a")]),
        (["data: not ended\n"], []),
        ([], []),
    ]
    await page.goto(f"{shared}/?minMagnitude=9")
    read: list[list[dict[str, Any]]] = await page.evaluate(
        """async streams => {
          const main = document.querySelector("script[type=module]").src;
          const { messages } = await import(main.replace("main", "event_stream"));
          const read = chunks => Array.fromAsync(messages((async function* () { yield* chunks; })()));
          return Promise.all(streams.map(read));
        }""",
        [chunks for chunks, _ in streams],
    )

    for found, (chunks, messages) in zip(read, streams, strict=True):
        assert [(message["event"], message["data"]) for message in found] == messages, chunks
