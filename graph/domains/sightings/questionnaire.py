"""The questions of "Did You Feel It?", and the community's intensity by the published formula. No I/O.

Each answer is averaged over those who gave it, so that a missing answer is not a zero. The weighted sum of the averages
gives the intensity:

    CWS = 5·felt + motion + reaction + 2·stand + 5·shelf + 2·picture + 3·furniture + 5·damage
    CDI = 3.3996 · ln(CWS) - 4.3781

The CDI is at least 2 where somebody felt something, and 1 where nobody did.

Sources: Wald et al. (1999), https://doi.org/10.1785/gssrl.70.4.445; the code of DYFI, version 4.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import log
from typing import Self

from graph.core.described import optional, value
from graph.core.errors import BadUserInput

THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class Question:
    """A question, whose answers are numbers from 0 on."""

    weight: int  # in the weighted sum
    greatest: int


QUESTIONS: Mapping[str, Question] = {
    "felt": Question(5, 1),
    "motion": Question(1, 5),
    "reaction": Question(1, 5),
    "stand": Question(2, 1),
    "shelf": Question(5, 3),
    "picture": Question(2, 1),
    "furniture": Question(3, 1),
    "damage": Question(5, 3),
}

LEAST_FELT = 2.0  # the least intensity where anything was felt
NOT_FELT = 1.0


@value
class Questionnaire:
    """What somebody felt, by the questions of USGS's “Did You Feel It?”. Leave out what is not known."""

    felt: float | None = optional("Whether it was felt, 0 … 1.")
    motion: float | None = optional("How strong the shaking was, 0 … 5.")
    reaction: float | None = optional("How frightened people were, 0 … 5.")
    stand: float | None = optional("Whether it was difficult to stand, 0 … 1.")
    shelf: float | None = optional("How many objects fell from shelves, 0 … 3.")
    picture: float | None = optional("Whether pictures on walls moved, 0 … 1.")
    furniture: float | None = optional("Whether furniture moved, 0 … 1.")
    damage: float | None = optional(
        "How much the building was damaged, 0 … 3: 0.5 for hairline cracks, 3 for collapse."
    )


Answers = Mapping[str, float]
"""The given answers of one person, by question."""


def checked(questionnaire: Questionnaire) -> Answers:
    """The given answers of a person.

    Raises:
        BadUserInput: One is out of its range, or none is given.
    """
    given = {name: value for name, value in asdict(questionnaire).items() if value is not None}
    if not given:
        raise BadUserInput("`questionnaire` must have an answer.")
    for name, answer in given.items():
        greatest = QUESTIONS[name].greatest
        if not 0 <= answer <= greatest:  # NaN is refused, too
            raise BadUserInput(f"`{name}` must lie between 0 and {greatest}.")
    return given


@dataclass(slots=True)
class Community:
    """The answers of several people. Sums are whole thousandths, so that their order does not matter."""

    reports: int = 0
    given: dict[str, int] = field(default_factory=dict)  # question → people who have answered it
    sums: dict[str, int] = field(default_factory=dict)  # question → sum of their answers, thousandths

    @classmethod
    def of(cls, answers: Answers) -> Self:
        """One person."""
        return cls(1, dict.fromkeys(answers, 1), {name: round(THOUSAND * value) for name, value in answers.items()})

    def add(self, other: "Community") -> None:
        """Add people."""
        self.reports += other.reports
        for name, number in other.given.items():
            self.given[name] = self.given.get(name, 0) + number
            self.sums[name] = self.sums.get(name, 0) + other.sums[name]

    @property
    def weighted_sum(self) -> float:
        """The community's weighted sum (CWS)."""
        return sum(
            [
                question.weight * self.sums[name] / self.given[name] / THOUSAND
                for name, question in QUESTIONS.items()
                if self.given.get(name)
            ]
        )

    @property
    def intensity(self) -> float:
        """The community's decimal intensity (CDI), to one decimal."""
        return intensity_of(self.weighted_sum)


def intensity_of(weighted_sum: float) -> float:
    """The intensity of a weighted sum, rounded to four decimals and then to one, as DYFI does it."""
    if weighted_sum <= 0:
        return NOT_FELT
    return max(round(round(3.3996 * log(weighted_sum) - 4.3781, 4), 1), LEAST_FELT)
