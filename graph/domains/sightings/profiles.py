"""Users' profiles: what they have reported and confirmed, in the transactions that store it."""

from collections.abc import Sequence
from datetime import date, timedelta

from graph.core.days import DAY_MS, EPOCH
from graph.domains.sightings.entities import PROFILE
from graph.domains.sightings.model import Profile
from graph.store.conditions import Absent, unchanged
from graph.store.contract import Action, Database, Update
from graph.store.entity import Item

NUMBERS = ("reports", "confirmations", "confirmationsReceived", "streakDays", "longestStreakDays")


async def profile_of(database: Database, user_id: str) -> Profile:
    """A user's profile. One who has done nothing has numbers too."""
    stored = await database.get(PROFILE.key_for(user_id)) or {}
    return Profile({"userId": user_id, **dict.fromkeys(NUMBERS, 0), **stored})


async def reported(database: Database, profile: Profile, now: int, *, confirmations: int = 0) -> list[Update]:
    """The change for a report, if the profile is still as it was read. None for a broken one of another program.

    Args:
        now: epoch milliseconds.
        confirmations: that it has already, if another program has stored it.
    """
    day = date.fromordinal(EPOCH + now // DAY_MS)
    streak = streak_on(profile, day) + (profile.last_day != day.isoformat())  # a day counts once
    is_first = profile.since is None
    if is_first and await _is_broken(database, profile.user_id):
        return []
    change = Update(
        PROFILE.key_for(profile.user_id),
        set={
            "reports": profile.reports + 1,
            "streakDays": streak,
            "longestStreakDays": max(streak, profile.longest_streak_days),
            "lastDay": day.isoformat(),
            "since": now if is_first else profile.since,
        },
        add={"confirmationsReceived": confirmations} if confirmations else {},
        condition=Absent("since") if is_first else unchanged(profile.item, "reports"),
    )
    return [change]


async def without_broken(database: Database, actions: Sequence[Action]) -> list[Action]:
    """The actions without those on broken profiles, which count nothing."""
    broken = [
        action
        for action in actions
        if action.key.entity is PROFILE and await _is_broken(database, action.key.values[0])
    ]
    return [action for action in actions if action not in broken]


async def _is_broken(database: Database, user_id: str) -> bool:
    """Whether a user's profile is there, but cannot be read as a whole."""
    if database.other_writers is None:
        return False
    key = PROFILE.key_for(user_id)
    return bool(await database.get(key, attributes=("userId",)) and not await database.get(key))


def streak_on(profile: Profile, day: date) -> int:
    """The days in a row that a user has reported on, if the last of them is this day or the one before; else 0."""
    recent = {day.isoformat(), (day - timedelta(days=1)).isoformat()}
    return profile.streak_days if profile.last_day in recent else 0


def confirmed(user_id: str) -> Update:
    """The change for a sighting of another user that a user confirms."""
    return Update(PROFILE.key_for(user_id), add={"confirmations": 1})


def received(sighting: Item, number: int) -> list[Update]:
    """The changes for so many confirmations of a sighting, if it says who has reported it."""
    return _of_reporter(sighting, confirmationsReceived=number)


def hidden(sighting: Item) -> list[Update]:
    """The changes for a sighting that is hidden now, if it says who has reported it."""
    return _of_reporter(sighting, reports=-1, confirmationsReceived=-sighting["confirmationCount"])


def _of_reporter(sighting: Item, **added: int) -> list[Update]:
    return [Update(PROFILE.key_for(sighting["userId"]), add=added)] if "userId" in sighting else []
