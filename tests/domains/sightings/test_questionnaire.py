"""The answers to "Did you feel it?", and the published formula."""

from math import nan

import pytest

from graph.core.errors import BadUserInput
from graph.domains.sightings.questionnaire import Answers, Community, checked, intensity_of


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


def test_a_missing_answer_is_not_a_zero() -> None:
    alone = Community.of({"felt": 1, "motion": 4})
    with_another = Community.of_all([Community.of({"felt": 1, "motion": 4}), Community.of({"felt": 1})])
    with_a_zero = Community.of_all([Community.of({"felt": 1, "motion": 4}), Community.of({"felt": 1, "motion": 0})])

    assert with_another.reports == 2
    assert with_another.weighted_sum == alone.weighted_sum == 9
    assert with_a_zero.weighted_sum == 7


def test_answers_are_averaged_before_they_are_weighted() -> None:
    people: list[Answers] = [{"felt": 1, "damage": 0.5}, {"felt": 0.36, "damage": 3}, {"felt": 0}]

    community = Community.of_all(map(Community.of, people))

    assert community.weighted_sum == pytest.approx(5 * 1.36 / 3 + 5 * 3.5 / 2)


def test_only_given_answers_are_kept_and_those_out_of_range_are_refused() -> None:
    assert checked({"felt": 1, "motion": None, "damage": 3}) == {"felt": 1, "damage": 3}
    wrong: list[dict[str, float | None]] = [{}, {"felt": None}, {"felt": 1.1}, {"motion": -0.1}]
    wrong += [{"shelf": 4}, {"damage": nan}]
    for answers in wrong:
        with pytest.raises(BadUserInput):
            checked(answers)
