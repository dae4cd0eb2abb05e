"""Counts the answers of reports, each user's once for an earthquake, or once an hour in a region without one.

The answers of all who reported from a cell of 1 km within a minute are one item of counts and sums. It has no user and
never expires, so a community's intensity outlives the sightings. Its place is the earthquake that the reporters name;
else it is the cell of 1,000 km and the hour, where the reports are found that an earthquake may explain.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph.domains.sightings.entities import FELT_ONCE, FELT_REPORTS
from graph.domains.sightings.grid import KM1, KM1000
from graph.domains.sightings.iso import hour_of, minute_of, seconds_of
from graph.domains.sightings.questionnaire import Answers, Community
from graph.store.contract import Action, Database, Put, Update
from graph.store.entity import Key

KNOWN_S = 7 * 86_400  # so long it is known that a user has answered, but not from where


@dataclass(frozen=True, slots=True)
class FeltReport:
    """One person's answers, and when and where they were given."""

    answers: Answers
    cell: str  # of 1 km
    minute: str  # `2026-06-25T14:30Z`
    event_id: str | None = None  # the earthquake that the person names

    @property
    def place(self) -> str:
        """Where the answers are stored."""
        if self.event_id is not None:
            return place_of_event(self.event_id)
        return place_of_region(KM1000.cell(*KM1.centre(self.cell)), self.minute)


def felt_report(answers: Answers, lat: float, lon: float, now_s: int, event_id: str | None = None) -> FeltReport:
    """The report of somebody at a position, of which only the cell is kept; `now_s` in epoch seconds."""
    return FeltReport(answers, KM1.cell(lat, lon), minute_of(now_s), event_id)


def place_of_event(event_id: str) -> str:
    """The place of the reports that name an earthquake by this id."""
    return f"event:{event_id}"


def place_of_region(cell: str, minute: str) -> str:
    """The place of a cell's reports that name no earthquake; `cell` is of 1,000 km."""
    return f"{cell}:{hour_of(minute)}"


def added(reports: Iterable[FeltReport]) -> list[Update]:
    """The changes that store reports, one for each item."""
    communities: defaultdict[Key, Community] = defaultdict(Community)
    for report in reports:
        key = FELT_REPORTS.key_for(report.place, report.minute, report.cell)
        communities[key].add(Community.of(report.answers))
    return [Update(key, add=_numbers(community)) for key, community in communities.items()]


def _numbers(community: Community) -> dict[str, int]:
    """The attributes of an item that has these people's answers."""
    given = {f"{name}Given": number for name, number in community.given.items()}
    return {"reports": community.reports, **given, **{f"{name}Sum": number for name, number in community.sums.items()}}


async def count_once(database: Database, answers: Mapping[str, FeltReport]) -> list[Action]:
    """The changes that count users' answers, if those who are new here are not counted meanwhile.

    Args:
        answers: by the ids of the users.
    """
    if not answers:
        return []
    keys = {user_id: FELT_ONCE.key_for(user_id, report.place) for user_id, report in answers.items()}
    known = await database.get_many(keys.values())
    new = {user_id: report for user_id, report in answers.items() if keys[user_id] not in known}
    return [*(_once(user_id, report) for user_id, report in new.items()), *added(new.values())]


def _once(user_id: str, report: FeltReport) -> Put:
    expires_at = seconds_of(report.minute) + KNOWN_S
    return Put(FELT_ONCE, {"userId": user_id, "place": report.place, "expiresAt": expires_at}, if_absent=True)
