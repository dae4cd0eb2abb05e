"""What people select and prefer on the dashboard: presets, periods, order, units, time zone, exports."""

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Page, expect

from tests.acceptance.browser import time_zone
from tests.acceptance.pages.dashboard.conftest import Opener
from tests.acceptance.pages.dashboard.looking import (
    EVENTS,
    STRONG,
    drawn,
    loaded,
    sent,
    settled,
    until,
    went,
    with_filters,
)
from tests.acceptance.pages.dashboard.subscription import Subscription, an_event, store

pytestmark = pytest.mark.needs("chromium")


async def current(page: Page) -> list[str]:
    """The presets that the page is at."""
    return await page.locator("#presets [aria-current]").all_text_contents()


async def test_presets_lead_to_periods_and_sizes(page: Page, shared: str) -> None:
    await loaded(page, shared)
    assert await current(page) == ["Week", "All"]

    await page.get_by_role("link", name="M 4.5+").click()
    await settled(page, STRONG)
    assert await current(page) == ["Week", "M 4.5+"]
    await page.get_by_role("link", name="Day", exact=True).click()
    await expect(page.locator("#summary")).to_contain_text("12 events since 2023-08-03 02:52 UTC")
    assert urlsplit(page.url).query == "minMagnitude=4.5&period=day"
    assert await current(page) == ["Day", "M 4.5+"]
    await page.get_by_role("link", name="All", exact=True).click()
    await expect(page.locator("#filter-number")).to_be_empty()
    await page.get_by_role("link", name="Week", exact=True).click()
    await settled(page)
    assert urlsplit(page.url).query == ""


async def test_significant_events_a_time_and_a_place_are_selected_by_the_service(page: Page, shared: str) -> None:
    asked = sent(page)
    await page.goto(f"{shared}/?significant=1")
    await expect(page.locator("#list li")).to_have_count(0)
    await expect(page.locator("#summary")).to_have_text("No event matches these filters.")
    filters = [variables["filter"] for variables in asked if "filter" in variables]
    assert {given["minSig"] for given in filters} == {600}  # which USGS calls so
    assert await current(page) == ["Week", "Significant"]

    await went(page, "?period=hour")
    await with_filters(page)
    await page.locator("[name=from]").fill("2023-08-01T12:00")
    await page.locator("[name=to]").fill("2023-08-02T23:59")
    await page.get_by_role("button", name="Apply").click()
    await expect(page.locator("#summary")).to_contain_text("since 2023-08-01 12:00 UTC until 2023-08-02 23:59 UTC")
    assert parse_qs(urlsplit(page.url).query) == {"from": ["2023-08-01T12:00"], "to": ["2023-08-02"]}
    assert await current(page) == ["All"]
    await expect(page.locator("#more-filters")).not_to_have_attribute("open", "")

    await went(page, "")
    await with_filters(page)
    await page.locator("[name=place]").fill("indonesia")
    await page.locator("[name=place]").press("Enter")
    await expect(page.locator("#summary")).to_contain_text(re.compile(r"^[1-9]\d? events since"))
    assert urlsplit(page.url).query == "place=indonesia"
    await expect(page.locator("#list .place").first).to_contain_text("Indonesia")
    assert all("Indonesia" in place for place in await page.locator("#list .place").all_text_contents())


async def test_the_list_is_sorted_by_the_service(page: Page, shared: str) -> None:
    await loaded(page, shared)
    firsts = {"Newest first": "nc73919986", "Oldest first": "pr71419393", "Largest first": "us6000kxfl"}
    for sort, first in firsts.items():
        await page.get_by_label("Sort").select_option("smallest")
        await expect(page.locator("#list .magnitude").first).to_contain_text("−")
        await page.get_by_label("Sort").select_option(label=sort)

        await expect(page.locator("#list li").first).to_have_attribute("data-event-id", first)
        texts = await page.locator("#list .magnitude").all_text_contents()
        magnitudes = [float(text.replace("−", "-")) for text in texts]
        assert (magnitudes == sorted(magnitudes, reverse=True)) == (sort == "Largest first")
        await page.get_by_role("link", name="Next").click()
        await expect(page.locator(f"#list li[data-event-id={first}]")).to_have_count(0)
        await expect(page.get_by_role("link", name="First")).to_have_attribute("href", re.compile(r"\?"))
        await drawn(page, EVENTS)


async def test_an_arrival_takes_its_place_in_a_list_by_magnitude_and_does_not_squeeze_an_older_week(
    page: Page, subscription: Subscription
) -> None:
    """The page says how old the newest event is."""
    connection = page.locator("#connection")
    await loaded(page, f"{subscription.url}/?sort=largest")
    await expect(connection).to_have_text(re.compile(r"^Live, newest event \d+ yr\. ago$"))
    await expect(connection).to_have_attribute("data-stale", "")
    await expect(page.locator("#summary")).to_contain_text(", up to the newest one.")

    subscription.arrive(an_event("new1"))
    await expect(page.locator("#list li").first).to_have_attribute("data-event-id", "new1")
    await drawn(page, EVENTS + 1)
    await expect(page.get_by_role("log")).to_contain_text("New: magnitude 6.3")
    end = "document.querySelector('main').shown.range.to"
    before = await page.evaluate(end)

    event = an_event("new2", eventTsMs=await page.evaluate("Date.now()") - 90_000)
    subscription.notice(event)
    await expect(connection).to_have_text("Live, newest event 1 min. ago")
    await expect(connection).not_to_have_attribute("data-stale", "")
    await expect(page.get_by_role("log")).to_contain_text("Newer events have arrived, long after these.")
    await drawn(page, EVENTS + 1)
    assert await page.evaluate(end) == before
    store(subscription.url, event)
    await page.get_by_role("button", name="Show them").click()
    await expect(page.locator("#list li")).to_have_count(1)
    await expect(page.locator("#list li")).to_have_attribute("data-event-id", "new2")


async def test_the_period_ends_now_if_the_catalogue_is_fresh(page: Page, opened: Opener) -> None:
    url = opened(empty=True).url
    now = await page.evaluate("Date.now()")
    ages = (1, 23, 25, 24 * 6, 24 * 8, 24 * 40)  # hours, so that each period shows another number
    events = [an_event(f"old{hours}", eventTsMs=now - hours * 3_600_000) for hours in ages]
    store(url, *events)

    for period, shown in {"hour": 0, "day": 2, "week": 4, "month": 5, "all": 6}.items():
        await (page.goto(f"{url}/?period={period}") if period == "hour" else went(page, f"?period={period}"))
        await drawn(page, shown or 1)
        await until(page, "() => document.querySelector('main').shown.range")
        end = await page.evaluate("document.querySelector('main').shown.range.to")
        assert abs(end - now) < timedelta(hours=2).total_seconds() * 1000, period


async def test_lengths_and_times_are_written_as_people_prefer(page: Page, shared: str) -> None:
    await loaded(page, f"{shared}/?minMagnitude=4.5", STRONG)
    deep = page.locator("#list li[data-event-id=us6000kxnn]")
    await expect(deep.locator(".depth")).to_have_text("160.4 km deep")
    await expect(deep.locator("time")).to_have_text("2023-08-03 22:09:36")

    await page.get_by_role("button", name="Lengths: km").click()

    await expect(deep.locator(".depth")).to_have_text("99.7 mi deep")
    await expect(deep.locator(".place")).to_have_text("4 mi ESE of Palmira, Colombia")
    await page.reload()
    await settled(page, STRONG)
    await expect(deep.locator(".depth")).to_have_text("99.7 mi deep")
    await page.get_by_role("button", name="Lengths: mi").click()
    await expect(deep.locator(".depth")).to_have_text("160.4 km deep")

    async with time_zone(page, "America/Bogota"):
        await page.get_by_role("button", name="Times: UTC").click()
        await expect(deep.locator("time")).to_have_text("2023-08-03 17:09:36")
        await expect(page.locator("#list .caption")).to_contain_text("GMT-5")


async def test_exports_have_the_events_that_are_shown(page: Page, shared: str) -> None:
    await page.goto(f"{shared}/?minMagnitude=4.5")
    await drawn(page, STRONG)
    await page.locator("#export summary").click()
    links = page.locator("#export a")
    await expect(links).to_have_text(["CSV", "GeoJSON", "JSON lines", "Parquet", "Arrow"])

    answers = [
        await page.context.request.get(f"{shared}/{await link.get_attribute('href')}") for link in await links.all()
    ]
    assert [answer.status for answer in answers] == [200] * 5
    assert len((await answers[1].json())["features"]) == STRONG
