"""Counts the answers of users, each user's once for an earthquake, or once an hour in a region that names none."""

from collections.abc import Mapping

from graph.domains.sightings.entities import FELT_ONCE
from graph.domains.sightings.felt_reports import FeltReport, added
from graph.domains.sightings.iso import seconds_of
from graph.store.contract import Action, Database, Put

KNOWN_S = 7 * 86_400  # so long it is known that a user has answered, but not from where


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
