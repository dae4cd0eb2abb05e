"""Counts the answers of users, each user's once for an earthquake, or once an hour in a region that names none."""

from collections.abc import Sequence
from typing import NamedTuple

from graph.domains.sightings.entities import FELT_ONCE
from graph.domains.sightings.felt_reports import FeltReport, added
from graph.domains.sightings.iso import seconds_of
from graph.store.contract import Action, Database, Put
from graph.store.entity import Key

KNOWN_S = 7 * 86_400  # so long it is known that a user has answered, but not from where


class FeltBy(NamedTuple):
    """What a user has felt."""

    user_id: str
    report: FeltReport

    @property
    def key(self) -> Key:
        """The primary key of what tells that it is counted."""
        return FELT_ONCE.key_for(self.user_id, self.report.place)


class FeltCounts:
    """The counted answers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def with_new(self, answers: Sequence[FeltBy]) -> list[Action]:
        """The changes that count answers of different users, if those who are new here are not counted meanwhile."""
        if not answers:
            return []
        known = await self._database.get_many([each.key for each in answers])
        new = [each for each in answers if each.key not in known]
        return [*map(_once, new), *added([each.report for each in new])]


def _once(answers: FeltBy) -> Put:
    user_id, report = answers
    expires_at = seconds_of(report.minute) + KNOWN_S
    return Put(FELT_ONCE, {"userId": user_id, "place": report.place, "expiresAt": expires_at}, if_absent=True)
