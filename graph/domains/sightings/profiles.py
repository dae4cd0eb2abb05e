"""Users' profiles: what they have reported and confirmed, in the transactions that store it."""

from datetime import date, timedelta

from graph.core.days import DAY_MS, EPOCH
from graph.domains.sightings.entities import PROFILE
from graph.domains.sightings.model import Profile
from graph.store.conditions import Absent, Compare
from graph.store.contract import Database, Update
from graph.store.entity import Item

NUMBERS = ("reports", "confirmations", "confirmationsReceived", "streakDays", "longestStreakDays")


async def profile_of(database: Database, user_id: str) -> Profile:
    """A user's profile. One who has done nothing has numbers too."""
    stored = await database.get(PROFILE.key_for(user_id)) or {}
    return Profile({"userId": user_id, **dict.fromkeys(NUMBERS, 0), **stored})


def reported(profile: Profile, now: int) -> Update:
    """The change for a report, if the profile is still as it was read; `now` in epoch milliseconds."""
    before, day = profile.item, date.fromordinal(EPOCH + now // DAY_MS)
    streak = streak_after(before, day)
    unchanged = Compare("reports", "=", before["reports"]) if "since" in before else Absent("since")
    return Update(
        PROFILE.key_for(profile.user_id),
        set={
            "reports": before["reports"] + 1,
            "streakDays": streak,
            "longestStreakDays": max(streak, before["longestStreakDays"]),
            "lastDay": day.isoformat(),
            "since": before.get("since", now),
        },
        condition=unchanged,
    )


def streak_after(before: Item, day: date) -> int:
    """The days in a row on which a user has reported, after a report on a day."""
    last = before.get("lastDay")
    if last == day.isoformat():
        return int(before["streakDays"])
    if last == (day - timedelta(days=1)).isoformat():
        return int(before["streakDays"]) + 1
    return 1


def streak_on(profile: Profile, day: date) -> int:
    """The days in a row that a user has reported on, if the last of them is this day or the one before; else 0."""
    recent = {day.isoformat(), (day - timedelta(days=1)).isoformat()}
    return int(profile.item["streakDays"]) if profile.item.get("lastDay") in recent else 0


def confirmed(user_id: str) -> Update:
    """The change for a sighting of another user that a user confirms."""
    return Update(PROFILE.key_for(user_id), add={"confirmations": 1})


def received(user_id: str, number: int) -> Update:
    """The change for so many confirmations of a sighting that a user has reported."""
    return Update(PROFILE.key_for(user_id), add={"confirmationsReceived": number})


def hidden(user_id: str, confirmations: int) -> Update:
    """The change for a sighting that a user has reported, with so many confirmations, and that is hidden now."""
    return Update(PROFILE.key_for(user_id), add={"reports": -1, "confirmationsReceived": -confirmations})
