"""The plots of events, each on its own in Chromium: what is drawn, what a pointer and a keyboard do, what is said."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.acceptance.browser import Visit, tap, time_zone, without_complaints
from tests.acceptance.pages.dashboard.looking import EARTHQUAKES, EVENTS
from tests.acceptance.pages.dashboard.plotting import FRAMES, MAKERS, Plot
from tests.acceptance.pages.dashboard.reports import TESTER, People

pytestmark = pytest.mark.needs("chromium")

FROM, TO = 1690512743000, 1691117571000  # 2023-07-28 02:52:23 to 2023-08-04 02:52:51
WEEK = {"startTime": "2023-07-28T02:52:23Z"}
HINT = " Drag across a time to see it alone, or fill in its days in the filters."


Events = list[dict[str, Any]]


@pytest.fixture
def plot(module_visit: Visit, from_modules: str) -> Iterator[Plot]:
    """A plot of the test's own, on the page of all tests here."""
    for page in without_complaints(module_visit):
        yield Plot(page, from_modules)


@pytest.fixture(scope="module")
def week(from_modules: str) -> Events:
    """The events of the sparse week."""
    query = "{ events(first: 1000) { nodes { eventId eventTsMs mag place lat lon depth type url } } }"
    nodes: Events = People(from_modules).ask(TESTER, query)["events"]["nodes"]
    return nodes


def of_week(events: Events, **others: Any) -> dict[str, Any]:
    """What the page gives a plot that shows all of them."""
    of_all = {"isWhole": True, "count": len(events), "range": {"from": FROM, "to": TO}, "statistics": None}
    return {"events": events, **of_all, **others}


# Magnitudes in time


async def test_each_event_is_drawn_at_its_time_and_magnitude(plot: Plot, week: Events) -> None:
    await plot.begin("magnitude_time", **of_week(week))

    in_time = sorted(week, key=lambda event: event["eventTsMs"])
    times, magnitudes = await plot.of_plot("plot.data")
    assert len(week) == EVENTS
    assert times == [event["eventTsMs"] for event in in_time]
    assert magnitudes == [event["mag"] for event in in_time]
    assert await plot.of_plot("plot.root.dataset.events") == str(EVENTS)
    caption = "185 events, from 2023-07-28 03:15 UTC to 2023-08-04 02:52 UTC, magnitudes −0.5 to 5.9." + HINT
    assert await plot.caption() == caption
    await expect(plot.page.get_by_role("img", name="Tested")).to_have_accessible_description(caption)


async def test_the_time_range_is_that_of_the_page(plot: Plot, week: Events) -> None:
    """So an arrival does not squeeze the events before it, and what is outside of the range is not drawn."""
    await plot.begin("magnitude_time", **of_week(week))
    before = await plot.of_plot("[plot.scales.x.min, plot.scales.x.max]")
    far = {**week[0], "eventId": "far", "eventTsMs": TO + 30 * 86_400_000}

    await plot.show(**of_week([far, *week]))

    assert await plot.of_plot("[plot.scales.x.min, plot.scales.x.max]") == before
    assert before[0] <= FROM <= before[0] + 0.02 * (TO - FROM)
    assert await plot.of_plot("plot.root.dataset.events") == str(EVENTS)


async def test_a_click_selects_the_largest_within_reach(plot: Plot, week: Events) -> None:
    await plot.begin("magnitude_time", **of_week(week))
    great = next(event for event in week if event["eventId"] == "us6000kxfl")
    small = {**great, "eventId": "small", "mag": great["mag"] - 0.1, "place": "Beside it"}
    other = {**great, "eventId": "other", "eventTsMs": great["eventTsMs"] + 43_200_000, "mag": 0.0}
    await plot.show(**of_week([small, great, other]))

    x, y = await plot.at(small["eventTsMs"], small["mag"])
    await plot.page.mouse.click(x + 2, y)
    across, down = await plot.at(great["eventTsMs"], great["mag"])
    assert await plot.heard() == [
        ["select", "us6000kxfl", {"x": pytest.approx(across, abs=1), "y": pytest.approx(down, abs=1)}]
    ]
    await plot.page.mouse.move(across, down)
    await expect(plot.page.locator("#tested .tip")).to_have_text(
        "M 5.9, 266 km S of Burica, Panama, 2023-08-03 01:25 UTC"
    )
    x, y = await plot.at(other["eventTsMs"], other["mag"])
    await plot.page.mouse.move(x, y + 30)
    await expect(plot.page.locator("#tested .tip")).to_be_hidden()
    await plot.page.mouse.click(x, y + 30)
    assert len(await plot.heard()) == 1


async def test_a_finger_reaches_farther_than_a_mouse(plot: Plot, week: Events) -> None:
    alone = {**week[0], "eventTsMs": (FROM + TO) // 2, "mag": 3.0}
    await plot.begin("magnitude_time", width=370, **of_week([alone]))
    x, y = await plot.at(alone["eventTsMs"], 3.0)

    await plot.page.mouse.click(x, y + 19)
    assert await plot.heard() == []
    await tap(plot.page, x, y + 19)
    assert [name for name, *_ in await plot.heard()] == ["select"]
    await tap(plot.page, x, y + 27)
    assert len(await plot.heard()) == 1


async def test_a_drag_gives_its_range_of_time(plot: Plot, week: Events) -> None:
    await plot.begin("magnitude_time", **of_week(week))
    begin, end = FROM + 86_400_000, FROM + 3 * 86_400_000
    left, y = await plot.at(begin, 2)
    right, _ = await plot.at(end, 2)
    pixel = (end - begin) / (right - left)
    mouse = plot.page.mouse

    await mouse.move(right, y)
    await mouse.down()
    await mouse.move((left + right) / 2, y)
    selected = plot.page.locator("#tested .u-select")
    box = await selected.bounding_box()
    assert box
    assert box["width"] == pytest.approx((right - left) / 2, abs=1.5)
    await mouse.move(left, y)
    await mouse.up()

    assert await plot.heard() == [
        ["range", {"from": pytest.approx(begin, abs=pixel), "to": pytest.approx(end, abs=pixel)}]
    ]
    assert await selected.evaluate("element => element.offsetWidth") == 0


async def test_the_keyboard_leads_through_the_events_in_time(plot: Plot, week: Events) -> None:
    await plot.begin("magnitude_time", **of_week(week))
    oldest, second, *_ = sorted(week, key=lambda event: event["eventTsMs"])
    slider = plot.page.locator("#tested").get_by_role("slider", name="Events in order of time, Enter selects")

    await slider.focus()
    await expect(plot.page.locator("#tested .tip")).to_contain_text(oldest["place"])
    await plot.page.keyboard.press("ArrowRight")
    await expect(plot.page.locator("#tested .tip")).to_contain_text(second["place"])
    assert second["place"] in (await slider.get_attribute("aria-valuetext") or "")
    await plot.page.keyboard.press("Enter")
    assert [(name, event_id) for name, event_id, _ in await plot.heard()] == [("select", second["eventId"])]


async def test_the_selected_event_and_arrivals_are_marked(plot: Plot, week: Events) -> None:
    await plot.begin("magnitude_time", **of_week(week))
    event = next(event for event in week if event["eventId"] == "us6000kxfl")

    async def center(mark: str) -> tuple[float, float]:
        box = await plot.page.locator(f"#tested .{mark}").bounding_box()
        assert box
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    await plot.page.evaluate("() => { tested.select('us6000kxfl'); tested.ring('us6000kxfl'); }")
    await expect(plot.page.locator("#tested .arrival")).to_have_count(1)
    assert await center("selection") == pytest.approx(await plot.at(event["eventTsMs"], event["mag"]), abs=1)

    await plot.show(**of_week(week, range={"from": FROM - 86_400_000, "to": TO}))
    assert await center("selection") == pytest.approx(await plot.at(event["eventTsMs"], event["mag"]), abs=1)
    await plot.page.evaluate("() => { tested.select(null); document.getAnimations().forEach(each => each.finish()); }")
    await expect(plot.page.locator("#tested .selection")).to_be_hidden()
    await expect(plot.page.locator("#tested .arrival")).to_have_count(0)


async def test_the_largest_of_many_stand_over_bars_that_count_all(plot: Plot, week: Events) -> None:
    largest = sorted(week, key=lambda event: -event["mag"])[:50]
    statistics = plot.statistics(WEEK)
    await plot.begin("magnitude_time", **of_week(largest, isWhole=False, count=EVENTS, statistics=statistics))

    assert await plot.caption() == (
        "The 50 largest of 185 events, from 2023-07-28 07:03 UTC to 2023-08-04 00:31 UTC, magnitudes 4.8 to 5.9. "
        "The bars count all earthquakes of a day." + HINT
    )
    highest = max(statistics["series"]["counts"])
    least, top, bottom = await plot.of_plot(
        f"[plot.valToPos(4.8, 'y'), plot.valToPos({highest}, 'count'), plot.over.clientHeight]"
    )
    assert least < top < bottom  # the circles are above the bars


async def test_nothing_to_show_is_said(plot: Plot) -> None:
    for module in ("magnitude_time", "depth_section"):
        await plot.begin(module, **of_week([]))
        assert await plot.caption() == "No event to show."
        await expect(plot.page.locator("#tested .plot canvas")).to_have_count(0)


async def test_times_are_utc_or_those_of_the_browser(plot: Plot, week: Events) -> None:
    ticks = {}
    async with time_zone(plot.page, "Asia/Kolkata"):
        for zone in ("UTC", "local"):
            await plot.begin("magnitude_time", time_zone=zone, **of_week(week))
            ticks[zone] = await plot.of_plot("plot.axes[0]._splits.map(ms => ms % 86400000 / 3600000)")
    assert set(ticks["UTC"]) == {0}
    assert set(ticks["local"]) == {18.5}  # midnight in Kolkata, which is 5:30 ahead


# Earthquakes over time


async def test_each_day_is_counted_and_summed(plot: Plot) -> None:
    statistics = plot.statistics(WEEK)
    counts = statistics["series"]["counts"]
    await plot.begin("event_rates", statistics=statistics, range={"from": FROM, "to": TO})

    edges, drawn, sums = await plot.of_plot("plot.data")
    assert drawn == [*counts, None]
    assert sums == [sum(counts[:number]) for number in range(len(counts) + 1)]
    assert sums[-1] == EARTHQUAKES
    midnights = [1690588800000 + 86_400_000 * day for day in range(7)]
    assert edges == [FROM, *midnights, TO]
    assert await plot.caption() == (
        f"181 earthquakes by day, most on 2023-08-01: {max(counts)}. "
        "Of 2023-07-28 and 2023-08-04 only a part is in the time range."
    )
    x, y = await plot.at(midnights[2] + 43_200_000, 1)
    await plot.page.mouse.move(x, y)
    await expect(plot.page.locator("#tested .tip")).to_have_text(f"2023-07-31: {counts[3]} earthquakes")
    x, y = await plot.at(FROM + 3_600_000, 1)
    await plot.page.mouse.move(x, y)
    await expect(plot.page.locator("#tested .tip")).to_have_text(f"2023-07-28, in part: {counts[0]} earthquakes")


async def test_days_that_the_range_does_not_cut_are_whole(plot: Plot) -> None:
    where = {"startTime": "2023-07-29", "endTime": "2023-07-30T23:59:59.999Z"}
    statistics = plot.statistics(where)
    await plot.begin("event_rates", statistics=statistics, range={"from": 1690588800000, "to": 1690761599999})

    assert "part" not in await plot.caption()
    assert await plot.of_plot("plot.data[1].length") == 3


async def test_no_earthquakes_are_no_number(plot: Plot) -> None:
    await plot.begin("event_rates", statistics=plot.statistics({"minMagnitude": 9}), range=None)
    assert await plot.caption() == "No earthquake to count."

    where = {"minMagnitude": 9, **WEEK, "endTime": "2023-08-04"}
    await plot.show(statistics=plot.statistics(where), range={"from": FROM, "to": TO})
    assert await plot.caption() == "No earthquake to count."
    assert "NaN" not in await plot.page.locator("#tested").inner_text()


async def test_periods_are_the_shortest_that_are_few_enough(plot: Plot) -> None:
    await plot.begin("event_rates")
    intervals = {0: "DAY", 7: "DAY", 400: "DAY", 401: "MONTH", 2557: "MONTH", 40_000: "YEAR"}
    chosen = await plot.page.evaluate(
        """async (days) => {
          const root = document.querySelector("script[type=module]").src.replace(/main\\.js$/, "");
          const { intervalOf } = await import(`${root}plots/periods.js`);
          return days.map((day) => intervalOf({ from: 0, to: day * 86400000 }));
        }""",
        list(intervals),
    )
    assert chosen == list(intervals.values())


async def test_months_are_as_long_as_they_are(plot: Plot) -> None:
    series = {"interval": "MONTH", "startsAt": "2023-01-01T00:00:00Z", "counts": [3, 0, 5]}
    statistics = {"count": 8, "series": series}
    january, february, march, april = 1672531200000, 1675209600000, 1677628800000, 1680307200000
    await plot.begin("event_rates", statistics=statistics, range={"from": january, "to": april - 1})

    edges, _, sums = await plot.of_plot("plot.data")
    assert edges == [january, february, march, april - 1]
    assert sums == [0, 3, 3, 8]
    assert await plot.caption() == "8 earthquakes by month, most in 2023-03: 5."


# Depths


async def test_each_event_is_drawn_at_its_depth(plot: Plot, week: Events) -> None:
    statistics = plot.statistics(WEEK)
    unknown = {**week[0], "eventId": "unknown", "depth": None}
    await plot.begin("depth_section", **of_week([unknown, *week], statistics=statistics))

    places, depths = await plot.of_plot("plot.data")
    known = {(round(event["lon"] % 360, 6), event["depth"]) for event in week}
    assert {(round(place % 360, 6), depth) for place, depth in zip(places, depths, strict=True)} == known
    assert places == sorted(places)
    assert places[-1] - places[0] < 360
    assert await plot.of_plot("plot.valToPos(0, 'y') < plot.valToPos(600, 'y')")  # downwards
    assert await plot.caption() == (
        "186 events, from 0 to 641 km deep. 1 event without a depth is not drawn. The bars count all earthquakes."
    )
    bars = await plot.page.evaluate("document.querySelector('#tested').histogram.data[1]")
    assert sum(bars) == EARTHQUAKES

    await plot.page.get_by_label("along").last.select_option("latitude")
    latitudes, _ = await plot.of_plot("plot.data")
    assert latitudes == sorted(event["lat"] for event in week)


async def test_a_section_across_the_dateline_is_in_one_piece(plot: Plot, week: Events) -> None:
    lons = [179.0, -179.5, -175.0, 171.0]
    events = [{**week[0], "eventId": f"d{lon}", "lon": lon, "lat": -20.0, "depth": 100.0} for lon in lons]
    await plot.begin("depth_section", **of_week(events))

    assert (await plot.of_plot("plot.data"))[0] == [171, 179, 180.5, 185]
    labels = await plot.of_plot("plot.axes[0].values(plot, [170, 180, 185])")
    assert labels == ["170° E", "180°", "175° W"]


async def test_the_depths_of_too_many_are_not_counted(plot: Plot, week: Events) -> None:
    statistics = {"depths": {"bins": [], "unknown": 0, "reason": "It takes the events themselves."}}
    await plot.begin("depth_section", **of_week(week[:20], isWhole=False, count=61234, statistics=statistics))

    assert (await plot.caption()).endswith("The depths of all are not counted: It takes the events themselves.")
    assert (await plot.caption()).startswith("The 20 largest of 61,234 events, from ")
    await expect(plot.page.locator("#tested .plot-beside")).to_be_hidden()


async def test_an_event_is_selected_in_the_section(plot: Plot, week: Events) -> None:
    await plot.begin("depth_section", **of_week(week))
    deepest = max(week, key=lambda event: event["depth"])
    lon = next(
        place for place in (await plot.of_plot("plot.data"))[0] if math.isclose(place % 360, deepest["lon"] % 360)
    )

    await plot.page.mouse.click(*await plot.at(lon, deepest["depth"]))

    assert [(name, event_id) for name, event_id, _ in await plot.heard()] == [("select", deepest["eventId"])]


# What all plots share


async def test_colours_follow_the_scheme_and_the_colouring(plot: Plot, week: Events) -> None:
    await plot.begin("magnitude_time")
    event = {**week[0], "mag": 6.0, "eventTsMs": (FROM + TO) // 2, "depth": 500.0}
    pixel = """Array.from(plot.ctx.getImageData(
      plot.valToPos(plot.data[0][0], "x", true), plot.valToPos(6, "y", true), 1, 1).data)"""
    seen = []
    for scheme in ("light", "dark"):
        await plot.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        for colour in ("age", "depth"):
            await plot.show(**of_week([event], colour=colour))
            seen.append(tuple(await plot.of_plot(pixel)))
        text = await plot.of_plot("plot.axes[0].stroke()")
        assert text == await plot.page.evaluate(
            "getComputedStyle(document.body).getPropertyValue('--plot-text').trim()"
        )
    assert len(set(seen)) == 4
    await plot.page.emulate_media(color_scheme="light")
    await plot.page.evaluate(FRAMES)
    assert tuple(await plot.of_plot(pixel)) == seen[1]  # without being shown anew


async def test_a_plot_is_sharp_and_as_large_as_its_place(browser: Browser, from_modules: str, week: Events) -> None:
    page = await browser.new_page(device_scale_factor=2)
    plot = Plot(page, from_modules)
    statistics = plot.statistics(WEEK)
    for module in MAKERS:
        await plot.begin(module, width=700)
        place = page.locator("#tested .plot")
        before = await place.evaluate("place => place.offsetHeight")
        await plot.show(**of_week(week, statistics=statistics))
        for width in (700, 340):
            await page.locator("#tested").evaluate("(figure, width) => (figure.style.width = `${width}px`)", width)
            await page.evaluate(FRAMES)
            wide, high = await place.evaluate("place => [place.clientWidth, place.clientHeight]")
            assert high == before, module  # so nothing below it moves
            assert await plot.of_plot("[plot.ctx.canvas.width, plot.ctx.canvas.height]") == [2 * wide, 2 * high]
            assert await plot.of_plot("plot.root.getBoundingClientRect().width") <= width
    await page.close()
