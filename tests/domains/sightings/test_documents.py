"""What `docs/sightings.md` shows, in the order of the page, and its tables."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graph.api.relay import global_id
from graph.domains.sightings.categories import USUAL
from graph.domains.sightings.entities import BLIP, LONGEST_REASON
from graph.domains.sightings.model import LONGEST_NAME, LONGEST_TEXT
from graph.domains.sightings.questionnaire import QUESTIONS
from graph.domains.sightings.tiers import THRESHOLDS
from tests.bearers import bearer
from tests.documents.pages import Page, fields_of, sent
from tests.domains.earthquakes.builders import at
from tests.domains.entities import ENTITIES
from tests.service import Service, running
from tests.settings import Settings
from tests.store.samples import HeldClock

PAGE = Page.followed_by(__file__, "docs/sightings.md")
AN_ID = "0189a711-f800-7c52-bc8c-e6d390e372ae"  # of the sighting, on the page
ANN, BEN, CARA, EVE = "ann", "ben", "cara", "eve"


def shortened(value: Any) -> Any:
    """A JSON value with numbers as the page has them: to seven decimals."""
    if isinstance(value, dict):
        return {name: shortened(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shortened(part) for part in value]
    return round(value, 7) if isinstance(value, float) else value


class Town:
    """A service after the earthquake, and people who follow the page."""

    def __init__(self, service: Service, clock: HeldClock) -> None:
        self._service = service
        self._clock = clock
        self._sighting_id = AN_ID

    def it_is(self, time: str) -> None:
        """Let the clock stand at a time of the day of the page."""
        self._clock.now = at(f"2023-07-30T{time}:00")

    def ask(self, user: str, query: str, variables: dict[str, Any] | None = None) -> dict[str, Any]:
        """The data of the answer to a user."""
        sent = {"query": query.replace(AN_ID, self._sighting_id), "variables": variables}
        answer = self._service.http.post("/graphql", json=sent, headers=bearer(subject=user)).json()
        assert answer.keys() == {"data"}, answer
        data: dict[str, Any] = answer["data"]
        return data

    def do(self, user: str, text: str, variables: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send the operation with this text. Its answer is the one that is shown, if one is."""
        operation = PAGE.shown("graphql", text)
        data = self.ask(user, operation, variables)
        if "created" in str(data) and self._sighting_id == AN_ID:
            self._sighting_id = data["reportSighting"]["sighting"]["sightingId"]
        data = dict(json.loads(json.dumps(data).replace(self._sighting_id, AN_ID)))
        if (expected := PAGE.answer_below(operation)) is not None:
            assert shortened(data) == expected
        return data


@pytest.fixture
def town(tmp_path: Path, week_file: Path) -> Iterator[Town]:
    """A service whose clock stands three minutes after the earthquake."""
    shutil.copy(week_file, tmp_path / "week.db")
    clock = HeldClock()
    clock.now = at("2023-07-30T13:52:00")
    with running(Settings(store=f"sqlite:///{tmp_path}/week.db"), clock=clock) as service:
        yield Town(service, clock)


REPORT = 'text: "A jolt, then the windows rattled."'
OUTAGE = 'mutation { reportSighting(input: {category: POWER_OUTAGE, area: "Morgan Hill"}) { created } }'


def test_the_operations_of_the_page_have_the_answers_that_are_shown(town: Town) -> None:
    town.do(ANN, REPORT)
    town.it_is("13:54")
    town.do(BEN, "lat: 37.1412")
    town.it_is("13:55")
    town.do(CARA, "confirmSighting")
    again = town.ask(CARA, PAGE.shown("graphql", "confirmSighting"))["confirmSighting"]
    assert (again["confirmed"], again["sighting"]["confirmations"]) == (False, 2)

    town.it_is("14:10")
    town.do(EVE, "later: freshness")
    town.do(EVE, "candidates {")
    town.do(EVE, "feltIntensity")
    profile = town.do(ANN, "profile {")["profile"]
    assert (profile["tier"], profile["reports"], profile["confirmationsReceived"]) == ("BRONZE", 1, 2)

    hidden = town.ask(EVE, f'{{ sighting(sightingId: "{AN_ID}") {{ id }} }}')["sighting"]["id"]
    assert town.do(EVE, "hideSighting") == {"hideSighting": {"deletedId": hidden}}
    assert town.ask(EVE, PAGE.shown("graphql", "later: freshness")) == {"sighting": None}


def test_the_lists_of_the_page_have_what_was_reported(town: Town) -> None:
    town.do(ANN, REPORT)
    town.it_is("13:54")
    named = 'input: {category: DAMAGE, area: "Gilroy", lat: 37.0058, lon: -121.5683, eventId: "us6000kwpn"}'
    town.ask(BEN, f"mutation {{ reportSighting({named}) {{ created }} }}")

    lists = town.do(BEN, "inTown:")
    assert [(each["area"], each["own"]) for each in lists["sightings"]["nodes"]] == [("gilroy", True)]
    assert [each["category"] for each in lists["inTown"]["nodes"]] == ["DAMAGE", "SHAKING"]
    trends = town.do(EVE, "trending(")
    assert [(each["category"], each["count"]) for each in trends["trending"][:3]] == [
        ("SHAKING", 1),
        ("DAMAGE", 1),
        ("TSUNAMI", 0),
    ]
    assert [each["slug"] for each in trends["areas"]["nodes"]] == ["gilroy", "morgan-hill"]


def test_a_watch_tells_of_what_others_report(town: Town) -> None:
    watch = town.do(EVE, "createAreaWatch(input: { area")["createAreaWatch"]["areaWatch"]
    for user in (EVE, BEN):
        town.ask(user, OUTAGE)
    town.it_is("14:52")
    town.ask(BEN, OUTAGE)
    while not (told := town.do(EVE, "sighting.reported")["triggerEvents"]["nodes"]):
        pass
    ended = town.do(EVE, "deleteAreaWatch(", {"watchId": watch["watchId"]})["deleteAreaWatch"]

    assert [each["payload"]["sighting"]["reportedAt"] for each in told] == ["2023-07-30T14:52:00Z"]
    assert told[0]["payload"]["watch"]["watchId"] == watch["watchId"]
    assert ended == {"deletedId": global_id("AreaWatch", watch["watchId"])}


async def test_the_subscription_sends_what_happens(tmp_path: Path) -> None:
    reported: dict[str, Any] = {}
    notice = await PAGE.first_notice(
        Settings(store=f"sqlite:///{tmp_path}/live.db"),
        lambda service: reported.update(sent(service, PAGE.shown("graphql", REPORT))["reportSighting"]["sighting"]),
    )

    assert (notice["kind"], notice["node"]["sightingId"]) == ("REPORTED", reported["sightingId"])
    assert notice["node"]["text"] == "A jolt, then the windows rattled."


def test_the_table_of_tiers_has_their_thresholds() -> None:
    assert [(row[0].strip("`"), int(row[1]), int(row[2])) for row in PAGE.rows("Profile")] == [
        (each.tier.name, each.reports, each.confirmations) for each in reversed(THRESHOLDS)
    ]


def test_the_table_of_questions_is_the_questionnaire() -> None:
    rows = PAGE.rows("How strongly it was felt")

    assert {row[0].split("`")[1]: (int(row[1]), int(row[2])) for row in rows} == {
        name: (question.greatest, question.weight) for name, question in QUESTIONS.items()
    }


def test_the_fields_of_a_report_are_those_of_the_graph() -> None:
    assert sorted(PAGE.names("Report")) == sorted(fields_of("ReportSightingInput"))
    assert f"at most {LONGEST_TEXT} characters of plain text" in PAGE.section("Report")
    assert set(USUAL) <= set(PAGE.spans)


def test_the_table_of_limits_has_the_lengths_of_texts() -> None:
    limits = {row[0]: row[1] for row in PAGE.rows("Limits")}

    assert LONGEST_TEXT == LONGEST_REASON
    assert limits["text, reason of a hiding"] == f"{LONGEST_TEXT} characters each"
    assert limits["name of an area"] == f"{LONGEST_NAME} characters"


def test_the_table_of_items_names_all_keys() -> None:
    def kind(template: str) -> str:
        return template if template.endswith("#LATEST") else re.split("[#<{]", template)[0]

    partitions = PAGE.names("How they are stored", 1)
    sorts = [sort.strip("`") if "`" in sort else "" for _, _, sort, *_ in PAGE.rows("How they are stored")]
    said = {(kind(pk), kind(sk)) for pk, sk in zip(partitions, sorts, strict=True)}
    keys = {
        (kind(pk), kind(sk))
        for entity in ENTITIES
        if entity.table is BLIP
        for pk, sk in (entity.key, *entity.indexes.values())
    }

    assert said == keys
    assert {BLIP.name, *(index.name for index in BLIP.indexes)} <= set(PAGE.spans)
