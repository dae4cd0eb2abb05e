"""What is stored twice agrees: `await check_counts(ours)` at any time, `await check_all(ours)` while all is active.

A sighting is stored under several keys, and counts for its category, its area, and the profiles of its users.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from graph.domains.sightings.entities import (
    AREA,
    CONFIRMATION,
    CONFIRMER,
    HOURS,
    LISTED_SIGHTING,
    PROFILE,
    SIGHTING,
    SIGHTING_BY_ID,
    SIGHTING_CHANGE,
    TALLY,
)
from graph.store.entity import Item
from tests.domains.sightings.in_store import SightingStore


async def check_all(ours: SightingStore) -> None:
    """Check counts and profiles, as long as no sighting is hidden or has expired, and the audit trail."""
    await check_counts(ours)
    await check_profiles(ours)
    confirmers = Counter((item["sightingId"], item["userId"]) for item in await ours.items(CONFIRMER))
    assert await confirmations(ours) == confirmers


async def check_counts(ours: SightingStore) -> None:
    """Check what copies and counts say of the active sightings by these sightings and their confirmers."""
    sightings = {item["sightingId"]: item for item in await ours.items(SIGHTING_BY_ID)}
    confirmers = [item for item in await ours.items(CONFIRMER) if item["sightingId"] in sightings]
    assert {
        "sightings": {item["sightingId"]: item for item in await ours.items(SIGHTING)},
        "listed": {
            (item["list"], item["sightingId"]): _without(item, "list") for item in await ours.items(LISTED_SIGHTING)
        },
        "confirmations": {each: item["confirmationCount"] for each, item in sightings.items()},
        "tallies": await tallies(ours),
        "areas": {item["areaSlug"]: item["expiresAt"] for item in await ours.items(AREA)},
        "changes": sorted([change.number for change in await ours.changes.sequence.since(0, 100_000)]),
    } == {
        "sightings": sightings,
        "listed": {(name, each): item for each, item in sightings.items() for name in item["lists"]},
        "confirmations": dict.fromkeys(sightings, 0) | Counter(item["sightingId"] for item in confirmers),
        "tallies": Counter(
            (item["category"], item["expiresAt"], f"hour{item['reportedAt'][11:13]}") for item in sightings.values()
        ),
        "areas": _latest((item["areaSlug"], item["expiresAt"]) for item in sightings.values()),
        "changes": sorted([item["change"] for item in await ours.items(SIGHTING_CHANGE)]),
    }


async def check_profiles(ours: SightingStore) -> None:
    """Check the totals of the profiles by the sightings, as long as none is hidden or has expired."""
    sightings = {item["sightingId"]: item["userId"] for item in await ours.items(SIGHTING_BY_ID)}
    confirmers = await ours.items(CONFIRMER)
    kinds = {
        "reports": Counter(sightings.values()),
        "confirmations": Counter(item["userId"] for item in confirmers),
        "confirmationsReceived": Counter(sightings[item["sightingId"]] for item in confirmers),
    }
    users = {user for counter in kinds.values() for user in counter}
    profiles = {item["userId"]: {kind: item.get(kind, 0) for kind in kinds} for item in await ours.items(PROFILE)}
    assert profiles == {user: {kind: counter[user] for kind, counter in kinds.items()} for user in users}


async def confirmations(ours: SightingStore) -> Counter[tuple[str, str]]:
    """How often each user has confirmed each sighting, by the audit trail."""
    return Counter((item["sightingId"], item["userId"]) for item in await ours.items(CONFIRMATION))


async def tallies(ours: SightingStore) -> dict[tuple[str, int, str], int]:
    """Category, expiry and hour of the report → number of sightings, without zeros."""
    return {
        (item["category"], item["expiresAt"], hour): item[hour]
        for item in await ours.items(TALLY)
        for hour in HOURS
        if item.get(hour)
    }


def _without(item: Item, name: str) -> Item:
    return {each: value for each, value in item.items() if each != name}


def _latest(expiries: Iterable[tuple[str, int]]) -> Mapping[str, int]:
    latest: dict[str, int] = {}
    for slug, expires_at in expiries:
        latest[slug] = max(expires_at, latest.get(slug, 0))
    return latest
