"""What reports add to the stored answers: a user's count once for an earthquake, wherever and however often given.

The answers to "Did you feel it?", and the published formula.
"""

from collections import Counter
from collections.abc import Iterable
from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.model import Event
from graph.domains.sightings.entities import FELT_REPORTS
from graph.domains.sightings.felt_reports import FeltReport, added, felt_report
from graph.domains.sightings.grid import KM1, KM1000
from graph.domains.sightings.questionnaire import Answers, Community, Questionnaire, checked, intensity_of
from graph.store.contract import Database
from graph.store.entity import Key
from tests.domains.earthquakes.builders import an_event, at, ingest
from tests.domains.sightings.in_store import ANNA, BEN, CARA, NOON, SightingStore, sightings

NOW = at("2026-06-25T14:30:59") // 1000

answers = st.dictionaries(
    st.sampled_from(["felt", "motion", "shelf", "damage"]), st.sampled_from([0, 0.36, 0.5, 0.75, 1]), min_size=1
)
few_reports = st.lists(
    st.builds(
        FeltReport,
        answers,
        cell=st.sampled_from(["km1:13960:11050", "km1:13960:11051", "km1:0:0"]),
        minute=st.sampled_from(["2026-06-25T14:59Z", "2026-06-25T15:00Z"]),
        event_id=st.sampled_from([None, "us1", "us2"]),
    ),
    max_size=20,
)


def sums(batches: Iterable[list[FeltReport]]) -> dict[Key, Counter[str]]:
    """All that batches of reports add, by item."""
    found: dict[Key, Counter[str]] = {}
    for batch in batches:
        for update in added(batch):
            found.setdefault(update.key, Counter()).update(update.add)
    return found


def test_a_report_is_stored_by_the_earthquake_that_it_names() -> None:
    (update,) = added([felt_report({"felt": 1, "damage": 0.75}, 35.6, -117.6, NOW, "us7000abcd")])

    cell = KM1.cell(35.6, -117.6)
    assert update.key == FELT_REPORTS.key_for("event:us7000abcd", "2026-06-25T14:30Z", cell)
    assert update.add == {"reports": 1, "feltGiven": 1, "feltSum": 1000, "damageGiven": 1, "damageSum": 750}
    assert not update.set


def test_a_report_that_names_none_is_stored_by_region_and_hour() -> None:
    (update,) = added([felt_report({"felt": 0}, 35.6, -117.6, NOW)])
    assert felt_report({"felt": 0}, 35.6, -117.6, NOW) == felt_report({"felt": 0}, 35.601, -117.601, NOW)  # of its cell

    region = KM1000.cell(35.6, -117.6)
    assert update.key.values == (f"{region}:2026-06-25T14", "2026-06-25T14:30Z", KM1.cell(35.6, -117.6))


@given(few_reports)
def test_reports_of_one_batch_never_give_two_actions_on_one_item(reports: list[FeltReport]) -> None:
    keys = [update.key for update in added(reports)]

    assert len(set(keys)) == len(keys)
    assert sum(update.add["reports"] for update in added(reports)) == len(reports)


@given(few_reports.flatmap(lambda reports: st.tuples(st.just(reports), st.permutations(reports), st.integers(0, 20))))
def test_neither_the_order_nor_the_batches_of_reports_matter(
    batches: tuple[list[FeltReport], list[FeltReport], int],
) -> None:
    reports, reordered, cut = batches

    assert sums([reports]) == sums([reordered[:cut], reordered[cut:]]) == sums([each] for each in reports)


FELT = {"felt": 1.0, "motion": 2.0}


async def counted(ours: SightingStore) -> dict[str, int]:
    """The number of counted people, by place."""
    found: dict[str, int] = {}
    for item in await ours.items(FELT_REPORTS):
        found[item["place"]] = found.get(item["place"], 0) + item["reports"]
    return found


async def with_earthquakes(database: Database, *event_ids: str) -> None:
    events: list[Event] = [an_event(each, NOON - 60_000, mag=5.0, lat=35.6, lon=-117.6) for each in event_ids]
    assert await ingest(database, events) == len(events)


async def test_a_user_counts_once_for_an_earthquake(engine: str) -> None:
    async with sightings(engine) as ours:
        await with_earthquakes(ours.database, "us1", "us2")
        for user_id, lat, event_id in (
            (ANNA, 35.60, "us1"),
            (ANNA, 35.61, "us1"),
            (ANNA, 35.62, "us2"),
            (BEN, 35.63, "us1"),
        ):
            await ours.new(user_id, lat=lat, lon=-117.6, event_id=event_id, text=f"At {lat}", answers=FELT)

        assert await counted(ours) == {"event:us1": 2, "event:us2": 1}


async def test_a_user_who_names_none_counts_once_an_hour_in_a_region(engine: str) -> None:
    async with sightings(engine) as ours:
        for lat in (35.60, 35.61, -35.6):
            await ours.new(ANNA, lat=lat, lon=-117.6, text=f"At {lat}", answers=FELT)
        ours.later(3600)
        await ours.new(ANNA, lat=35.60, lon=-117.6, answers=FELT)

        assert sorted((await counted(ours)).values()) == [1, 1, 1]


async def test_answers_of_a_report_that_repeats_a_sighting_count_with_its_confirmation(engine: str) -> None:
    async with sightings(engine) as ours:
        await with_earthquakes(ours.database, "us1")
        given: dict[str, Any] = {"lat": 35.6, "lon": -117.6, "event_id": "us1", "answers": FELT}
        await ours.new(ANNA, **given)
        for user_id in (ANNA, BEN, BEN, CARA):
            assert not (await ours.report(user_id, **given)).created

        (item,) = await ours.items(FELT_REPORTS)
        assert (item["reports"], item["motionGiven"], item["motionSum"]) == (3, 3, 6000)


@pytest.mark.parametrize(
    ("answers", "weighted_sum", "intensity"),
    [
        ({"felt": 1}, 5, 2.0),
        ({"felt": 1, "motion": 2, "reaction": 1}, 8, 2.7),
        ({"felt": 1, "motion": 3, "reaction": 3, "stand": 1, "shelf": 1}, 18, 5.4),
        ({"felt": 0}, 0, 1.0),
        ({"felt": 0, "motion": 1}, 1, 2.0),
    ],
)
def test_a_persons_answers_have_the_published_intensity(
    answers: dict[str, float], weighted_sum: float, intensity: float
) -> None:
    community = Community.of(answers)

    assert community.weighted_sum == weighted_sum
    assert community.intensity == intensity


def test_a_weighted_sum_has_the_published_intensity() -> None:
    published = {37: 7.9, 18: 5.4, 8: 2.7, 5: 2.0, 0.5: 2.0, 0: 1.0, -1: 1.0}
    assert {weighted_sum: intensity_of(weighted_sum) for weighted_sum in published} == published


def community_of(*people: Answers) -> Community:
    """The community of these people."""
    community = Community()
    for answers in people:
        community.add(Community.of(answers))
    return community


def test_a_missing_answer_is_not_a_zero() -> None:
    alone = Community.of({"felt": 1, "motion": 4})
    with_another = community_of({"felt": 1, "motion": 4}, {"felt": 1})
    with_a_zero = community_of({"felt": 1, "motion": 4}, {"felt": 1, "motion": 0})

    assert with_another.reports == 2
    assert with_another.weighted_sum == alone.weighted_sum == 9
    assert with_a_zero.weighted_sum == 7


def test_answers_are_averaged_before_they_are_weighted() -> None:
    people: list[Answers] = [{"felt": 1, "damage": 0.5}, {"felt": 0.36, "damage": 3}, {"felt": 0}]

    community = community_of(*people)

    assert community.weighted_sum == pytest.approx(5 * 1.36 / 3 + 5 * 3.5 / 2)


def test_only_given_answers_are_kept_and_those_out_of_range_are_refused() -> None:
    assert checked(Questionnaire(felt=1, damage=3)) == {"felt": 1, "damage": 3}
    wrong: list[dict[str, float | None]] = [{}, {"felt": None}, {"felt": 1.1}, {"motion": -0.1}]
    wrong += [{"shelf": 4}, {"damage": nan}]
    for answers in wrong:
        with pytest.raises(BadUserInput):
            checked(Questionnaire(**answers))
