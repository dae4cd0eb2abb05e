"""What people report, on the dashboard: rings that fade, a list, confirmations and a form."""

import re
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.sightings.confidence import Confidence, Freshness
from graph.domains.sightings.scopes import SIGHTINGS_READ
from graph.domains.sightings.tiers import TrustTier
from tests.acceptance.pages.dashboard.conftest import Opener
from tests.acceptance.pages.dashboard.looking import (
    GRAPH,
    STRONG,
    document_of,
    loaded,
    refuse,
    sent,
    stop_clock,
)
from tests.acceptance.pages.dashboard.reports import ANNA, BEN, RIDGECREST, TESTER, People, address, at_noon
from tests.store.samples import NOON, NOON_SECONDS, HeldClock

pytestmark = pytest.mark.needs("chromium")


RINGS = "#map .sightings g[data-sighting-id]"
ITEMS = "#sightings li"
NOON_TIME = datetime.fromtimestamp(NOON_SECONDS, UTC)  # 2023-11-14 22:13:20; a report of then expires at 22:44
PALMIRA = "us6000kxnn"  # an earthquake in Colombia
IMPORT = 'import(document.querySelector("script[type=module]").src.replace("main", "sightings/confidence"))'


@pytest.fixture
def url(opened: Opener) -> str:
    """Where a service without an event is, whose clock stands at noon."""
    return opened(empty=True, clock=HeldClock()).url


async def shown(page: Page, where: str, *, reports: int = 0) -> None:
    """Open the page at the time at which the service's clock stands, and wait for what people report."""
    await at_noon(page)
    await to(page, where, reports=reports)


async def to(page: Page, where: str, *, reports: int = 0) -> None:
    """Open the page, and wait for what people report."""
    await page.goto(where)
    await expect(page.locator("#sightings")).to_be_visible()
    await expect(page.locator(ITEMS)).to_have_count(reports)


# The formula


async def test_the_page_has_the_confidence_of_the_service_at_any_time(page: Page, url: str) -> None:
    cases = [
        {"expiresAt": NOON_TIME.isoformat(), "confirmations": number, "reporterTier": tier.value, "left": left}
        | {"confidence": {"lifetimeSeconds": lifetime}}
        for number, tier, lifetime, left in product(
            [0, 1, 2, 3, 4], TrustTier, [1800, 7200], [-60, 0, 1, 500, 594, 600, 1188, 1189, 1800, 9000]
        )
    ]
    await page.goto(url)
    found = await page.evaluate(
        f"""async (cases) => {{
          const {{ confidence, freshness }} = await {IMPORT};
          return cases.map((each) => confidence(each, Date.parse(each.expiresAt) - 1000 * each.left))
            .map((trusted) => [trusted, freshness(trusted).toUpperCase()]);
        }}""",
        cases,
    )

    def expected(case: dict[str, Any]) -> tuple[object, str]:
        trusted = Confidence.at(
            NOON_SECONDS - case["left"],
            expires_at=NOON_SECONDS,
            confirmations=case["confirmations"],
            tier=TrustTier(case["reporterTier"]),
            lifetime=case["confidence"]["lifetimeSeconds"],
        )
        return pytest.approx(trusted.total, abs=1e-12), Freshness.of(trusted.total).value

    assert [tuple(each) for each in found] == [expected(case) for case in cases]

    people = People(url)
    people.confirm(BEN, people.report(ANNA, area="Downtown"))
    times = [(NOON_TIME + timedelta(minutes=minutes)).isoformat() for minutes in (0, 7, 12, 20, 25, 31)]
    at_times = " ".join(f'at{n}: confidence(at: "{time}") {{ total }}' for n, time in enumerate(times))
    shown = f"expiresAt confirmations reporterTier confidence {{ lifetimeSeconds }} {at_times}"
    query = f"{{ sightings {{ nodes {{ {shown} }} }} }}"
    [sighting] = people.ask(ANNA, query)["sightings"]["nodes"]

    found = await page.evaluate(
        f"""async ([sighting, times]) => {{
          const {{ confidence }} = await {IMPORT};
          return times.map((time) => confidence(sighting, Date.parse(time)));
        }}""",
        [sighting, times],
    )

    assert found == [pytest.approx(sighting[f"at{n}"]["total"], abs=1e-12) for n in range(len(times))]
    assert found[0] == 1
    assert found[-1] == 0


# Rings and list


async def test_reports_of_others_appear_while_the_page_is_open_and_a_hidden_one_is_removed(
    webgl_page: Page, url: str
) -> None:
    """The rings of a place are told apart and counted, and a ring leads to its sighting in the list."""
    people = People(url)
    await webgl_page.set_viewport_size({"width": 800, "height": 600})
    await shown(webgl_page, address(url))
    await expect(webgl_page.get_by_text("Nobody reports anything now.")).to_be_visible()
    await expect(webgl_page.locator("#connection")).to_contain_text("Live")

    text = 'Lamps swing: a & b "c", &lt;b&gt; & more'
    first = people.report(ANNA, lat=-33.4, lon=-70.6, category="POWER_OUTAGE", text=text)

    item = webgl_page.locator(ITEMS)
    await expect(item.locator(".what")).to_have_text("Power outage 33.44° S 70.59° W")
    await expect(item.locator(".state")).to_have_text("Fresh, 100 %")
    await expect(item.locator(".text")).to_have_text(text)
    await expect(item.locator(".facts")).to_have_text("Reported at 22:13 UTC, not confirmed yet.")
    await expect(webgl_page.locator(RINGS)).to_have_class("fresh")
    await expect(webgl_page.locator(f"{RINGS} title")).to_have_text("Power outage, 33.44° S 70.59° W: Fresh, 100 %")
    await expect(webgl_page.locator("#sighting-news")).to_have_text("New: Power outage, 33.44° S 70.59° W.")
    await expect(webgl_page.get_by_role("list", name="What people report")).to_be_visible()
    await expect(webgl_page.locator("#sightings .none")).to_be_hidden()

    for category in ("SHAKING", "DAMAGE", "FIRE", "LANDSLIDE", "OTHER"):
        people.report(ANNA, **RIDGECREST, category=category)
    people.report(ANNA, area="Nowhere on the map")
    await expect(webgl_page.locator(ITEMS)).to_have_count(7)
    await expect(webgl_page.locator(ITEMS, has_text="Shaking Nowhere On The Map")).to_be_visible()
    await expect(webgl_page.locator(RINGS)).to_have_count(5)
    radii = await webgl_page.locator(f"{RINGS} .ring").evaluate_all("rings => rings.map(({ r }) => r.baseVal.value)")
    assert sorted(radii) == [7, 7, 13, 19, 25]
    await expect(webgl_page.locator("#map .sightings text")).to_have_text(["×5"])
    await expect(webgl_page.locator("#map-caption")).to_have_text("No event to show. 6 reports by people as rings.")

    await webgl_page.locator(f"#map .sightings g[data-sighting-id='{first}'] .ring").dispatch_event(
        "click", {"bubbles": True}
    )
    await expect(webgl_page.locator(f"#sightings li[data-sighting-id='{first}']")).to_be_focused()
    await webgl_page.get_by_role("button", name="I see it, too: Power outage").focus()
    people.hide(first)
    await expect(webgl_page.locator(ITEMS)).to_have_count(6)
    await expect(webgl_page.locator(f"[data-sighting-id='{first}']")).to_have_count(0)
    await expect(webgl_page.locator("#sightings")).to_be_focused()


async def test_a_ring_fades_by_itself_and_is_gone_when_the_sighting_expires(browser: Browser, url: str) -> None:
    People(url).report(ANNA, **RIDGECREST)
    page = await browser.new_page(viewport={"width": 800, "height": 600})
    await page.clock.install(time=NOON_TIME)
    await to(page, address(url), reports=1)
    await page.route(GRAPH, lambda route: route.abort())  # the service is not asked again
    await page.evaluate("window.isStill = true")
    ring, look = page.locator(RINGS), page.locator(f"{ITEMS} .state")
    opacities = [float(await ring.get_attribute("opacity") or "")]
    await expect(ring).to_have_class("fresh")
    await stop_clock(page)

    await page.clock.fast_forward("15:00")
    await expect(ring).to_have_class("fading")
    await expect(look).to_have_text(re.compile(r"^Fading, 5[12] %$"))
    opacities.append(float(await ring.get_attribute("opacity") or ""))
    await page.clock.fast_forward("10:00")
    await expect(ring).to_have_class("stale")
    await expect(look).to_have_text(re.compile(r"^Stale, 1[89] %$"))
    opacities.append(float(await ring.get_attribute("opacity") or ""))
    await page.clock.fast_forward("06:00")

    await expect(ring).to_have_count(0)
    await expect(page.locator(ITEMS)).to_have_count(0)
    await expect(page.get_by_text("Nobody reports anything now.")).to_be_visible()
    assert opacities == sorted(opacities, reverse=True)
    assert await page.evaluate("window.isStill")
    await page.close()


async def test_it_resumes_where_its_connection_broke(own_page: Page, url: str) -> None:
    """What was reported meanwhile comes by the subscription: nothing else is asked for again."""
    people = People(url)
    followed, asked = sent(own_page, "LiveSightings"), sent(own_page, "Sightings(")
    await own_page.clock.install(time=NOON_TIME)
    await to(own_page, address(url))
    await expect(own_page.locator("#connection")).to_contain_text("Live")
    people.report(ANNA, **RIDGECREST)
    await expect(own_page.locator(ITEMS)).to_have_count(1)

    await own_page.route(GRAPH, lambda route: route.abort())
    await own_page.clock.fast_forward(41_000)  # in silence
    await expect(own_page.locator("#connection")).to_have_text(re.compile("^Reconnecting"))
    people.report(BEN, area="Downtown")
    await own_page.unroute(GRAPH)
    await own_page.clock.fast_forward(61_000)

    await expect(own_page.locator(ITEMS)).to_have_count(2)
    assert len(asked) == 1
    assert followed[0]["after"] is None
    assert followed[-1]["after"]


# Confirming


async def test_a_sighting_is_confirmed_by_keyboard_alone(page: Page, url: str) -> None:
    people = People(url)
    people.report(ANNA, area="Downtown")
    people.report(TESTER, area="Harbour")
    await shown(page, address(url), reports=2)
    await expect(page.locator(f"{ITEMS} button")).to_have_count(1)  # none for one's own
    await page.locator(".reports").focus()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("button", name="I see it, too: Shaking, Downtown")).to_be_focused()

    await page.keyboard.press("Enter")

    item = page.locator(ITEMS, has_text="Downtown")
    await expect(item.locator(".facts")).to_have_text("Reported at 22:13 UTC, confirmed by 1.")
    await expect(page.locator("#sighting-outcome")).to_have_text(
        "Shaking, Downtown: confirmed by 1, and shown until 22:44 UTC."
    )
    await expect(item.get_by_role("button")).to_have_count(0)
    await expect(item).to_be_focused()
    await expect(page.locator(ITEMS, has_text="Harbour").locator(".facts")).to_contain_text("Reported by you at")


async def test_a_confirmation_that_fails_is_told(page: Page, opened: Opener) -> None:
    clock = HeldClock()
    url = opened(empty=True, clock=clock).url
    People(url).report(ANNA, area="Downtown")
    await shown(page, address(url), reports=1)
    clock.now = NOON + 3_600_000  # it has expired for the service, and not yet for the page

    await page.get_by_role("button", name="I see it, too").click()

    await expect(page.locator("#sighting-problems p")).to_have_text(
        "There is no active sighting with the id that `sightingId` names."
    )
    await expect(page.locator("#sighting-outcome")).to_be_empty()


# Reporting


async def test_a_report_is_made_by_keyboard_alone(page: Page, opened: Opener) -> None:
    url = opened(empty=True, clock=HeldClock(), sighting_categories="FLOOD").url
    keyboard = page.keyboard
    reports = sent(page, "Report(")
    await shown(page, address(url))
    await page.locator(".report > summary").focus()

    await keyboard.press("Enter")
    await keyboard.press("Tab")
    await keyboard.type("Flood")
    for typed in ("", "35.7712", "-117.6034"):
        await keyboard.press("Tab")
        await keyboard.type(typed)
    await keyboard.press("Tab")
    await expect(page.get_by_role("button", name="Use my position")).to_be_focused()
    await keyboard.press("Tab")
    await keyboard.type('a & b "c"')
    await keyboard.press("Tab")
    await keyboard.press("Enter")  # opens the questions
    for answer in ("yes", "strong", "very f", "", "a few", "", "", "windows"):
        await keyboard.press("Tab")
        await keyboard.type(answer)
    await keyboard.press("Tab")
    await expect(page.get_by_role("button", name="Report", exact=True)).to_be_focused()
    await keyboard.press("Enter")

    await expect(page.locator("#sighting-outcome")).to_have_text(
        "Reported: Flood, 35.77° N 117.60° W. It is shown until 22:44 UTC, and longer if others confirm it."
    )
    await expect(page.locator(f"{ITEMS} .text")).to_have_text('a & b "c"')
    await expect(page.locator("#sightings textarea")).to_have_value("")
    assert [each["input"] for each in reports] == [
        {
            "category": "FLOOD",
            "area": None,
            "lat": 35.7712,
            "lon": -117.6034,
            "text": 'a & b "c"',
            "questionnaire": {"felt": 1, "motion": 4, "reaction": 4, "shelf": 1, "damage": 2},
        }
    ]


async def test_a_report_of_what_is_known_counts_as_a_confirmation(page: Page, url: str) -> None:
    People(url).report(ANNA, area="Downtown")
    await shown(page, address(url), reports=1)

    for sentence in (
        "Others have reported this: your report counts as a confirmation of “Shaking, Downtown”.",
        "You have reported or confirmed this already: Shaking, Downtown.",
    ):
        await report(page, category="SHAKING", area="Downtown")
        await expect(page.locator("#sighting-outcome")).to_have_text(sentence)

    await expect(page.locator(f"{ITEMS} .facts")).to_contain_text("confirmed by 1")


async def test_what_is_wrong_with_a_report_is_told_and_its_field_marked(page: Page, url: str) -> None:
    reports = sent(page, "Report(")
    await shown(page, address(url))
    wrong: list[tuple[dict[str, str], str | re.Pattern[str], str]] = [
        ({"area": "Downtown"}, re.compile("^What: "), "category"),
        ({"category": "FIRE"}, "Where: give an area, or latitude and longitude.", "area"),
        ({"category": "FIRE", "lat": "3"}, "Where: give both latitude and longitude, or neither.", "lon"),
        ({"category": "FIRE", "lat": "91", "lon": "3"}, re.compile("^latitude: .*90"), "lat"),
        (
            {"category": "SHAKING", "area": "Downtown", "felt": "1"},
            "Where: what you felt counts with latitude and longitude only.",
            "lat",
        ),
    ]
    for given, problem, field in wrong:
        await page.locator(".report form").evaluate("form => form.reset()")
        await report(page, **given)

        await expect(page.locator("#sighting-problems p")).to_have_text(problem)
        await expect(page.locator(f".report [name={field}]")).to_be_focused()
        await expect(page.locator(".report [aria-invalid=true]")).to_have_attribute("name", field)
    assert reports == []


async def test_a_refused_report_is_told_and_stays_in_the_form(page: Page, opened: Opener) -> None:
    url = opened(empty=True, clock=HeldClock(), sighting_reports=1).url
    People(url).report(TESTER, area="Downtown")
    await shown(page, address(url), reports=1)
    refused: dict[str, str | re.Pattern[str]] = {
        "<b>now</b>": "`text` must not have `<` or `>`: markup is not shown.",
        "now": re.compile("^You may report 1 times an hour in an area"),
    }
    for text, problem in refused.items():
        await report(page, category="FIRE", area="Downtown", text=text)

        await expect(page.locator("#sighting-problems p")).to_have_text(problem)
        await expect(page.locator(".report textarea")).to_have_value(text)
    await expect(page.locator(ITEMS)).to_have_count(1)


async def test_the_browsers_position_can_be_used(own_page: Page, url: str) -> None:
    await own_page.context.grant_permissions(["geolocation"])
    await own_page.context.set_geolocation({"latitude": 35.77123456, "longitude": -117.6})
    await shown(own_page, address(url))
    await own_page.locator(".report > summary").click()
    await own_page.get_by_role("button", name="Use my position").click()

    await expect(own_page.locator("[name=lat]")).to_have_value("35.7712")
    await expect(own_page.locator("[name=lon]")).to_have_value("-117.6000")


async def report(page: Page, **values: str) -> None:
    """Open the form, fill in its fields by their names, and send it."""
    if not await page.locator(".report form").is_visible():
        await page.locator(".report > summary").click()
    await page.locator(".questionnaire").evaluate("details => details.open = true")
    for name, value in values.items():
        field = page.locator(f".report [name={name}]")
        await (field.select_option(value) if name in {"category", "felt"} else field.fill(value))
    await page.get_by_role("button", name="Report", exact=True).click()


# Without the domain, or scopes of it


async def test_a_service_without_sightings_is_asked_for_none(page: Page, opened: Opener) -> None:
    url = opened(domains=("earthquakes",)).url
    asked = [sent(page, operation) for operation in ("Sightings(", "LiveSightings", "Reporter", "Felt(")]
    await loaded(page, address(url))
    await page.locator("#list li[data-event-id] a").first.click()

    await expect(page.get_by_role("dialog")).to_contain_text("Depth")
    await expect(page.locator("#connection")).to_contain_text("Live")
    await expect(page.locator("#sightings")).to_be_hidden()
    await expect(page.get_by_role("alert")).to_be_empty()
    assert asked == [[], [], [], []]


async def test_who_may_not_read_sightings_sees_none_and_all_else(page: Page, opened: Opener) -> None:
    url = opened(public_read=False).url
    async with page.expect_response(lambda answer: "query Sightings" in document_of(answer.request)):
        await loaded(page, address(url, EVENTS_READ))
    await page.locator("#list li[data-event-id] a").first.click()

    await expect(page.locator("#connection")).to_contain_text("Live")
    await expect(page.locator("#sightings")).to_be_hidden()
    await expect(page.get_by_role("alert")).to_be_empty()


async def test_who_may_only_read_sightings_is_told_how_to_write(page: Page, url: str) -> None:
    People(url).report(ANNA, **RIDGECREST)
    await at_noon(page)
    for where in (url, address(url, SIGHTINGS_READ)):
        await page.goto("about:blank")
        await to(page, where, reports=1)
        await page.locator(".report > summary").click()

        await expect(page.locator(".report .unable")).to_contain_text("sightings:write")
        await expect(page.locator(".report form")).to_be_hidden()
        await expect(page.locator(f"{ITEMS} button")).to_have_count(0)


async def test_what_could_not_be_loaded_is_told_and_asked_for_again(page: Page, url: str) -> None:
    People(url).report(ANNA, **RIDGECREST)
    await refuse(page, ["Sightings"])
    await at_noon(page)
    await page.goto(address(url))
    await expect(page.get_by_role("alert").locator("p")).to_have_text("No Sightings.")
    await page.unroute(GRAPH)
    await page.get_by_role("button", name="Try again").click()

    await expect(page.locator(ITEMS)).to_have_count(1)
    await expect(page.get_by_role("alert")).to_be_empty()


# Of an earthquake


async def test_an_earthquake_tells_how_it_was_felt_here(page: Page, opened: Opener) -> None:
    url = opened().url
    people = People(url)
    answers = {"felt": 1, "motion": 2, "reaction": 1}  # DYFI's own example: 2.7
    for who in (ANNA, BEN):
        people.report(who, lat=3.5, lon=-76.2, eventId=PALMIRA, questionnaire=answers)
    await loaded(page, address(url, path="/?minMagnitude=4.5"), STRONG)

    await page.locator(f"#list li[data-event-id={PALMIRA}] a").click()
    card = page.get_by_role("dialog", name="Palmira, Colombia")
    await expect(card.locator("dt", has_text="Felt here")).to_have_count(1)
    await expect(card.locator("dd", has_text="2 reports")).to_have_text(
        "intensity III (2.7), weak, by 2 reports from 1 place"
    )
    await expect(card).to_contain_text("Intensity, by USGS's reportsnot known")

    felt = sent(page, "Felt(")
    async with page.expect_response(lambda answer: "query Felt" in document_of(answer.request)) as answered:
        await page.locator("#list li[data-event-id=us6000kxp7] a").click()
    await (await answered.value).finished()
    await expect(page.get_by_role("dialog", name="Java").locator("dt", has_text="Felt here")).to_have_count(0)
    assert len(felt) == 1
