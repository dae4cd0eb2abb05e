"""Histories of reports, confirmations and hidings for Hypothesis, and what they leave active."""

from collections.abc import AsyncGenerator, Sequence

from hypothesis import strategies as st

from graph.domains.sightings.entities import SIGHTING
from graph.domains.sightings.lifetimes import Lifetimes
from graph.store.entity import Item
from tests.domains.sightings.in_store import ANNA, BEN, CARA, SightingStore

Step = tuple[str, int, int, float]
"""What is done, to which sighting or in which area, by which user, and the seconds that pass before it."""

LONG = Lifetimes(new=7200, refreshed=43_200, longest=82_800)
"""The longest possible lives: of 23 hours."""

USERS = (ANNA, BEN, CARA, "dora")
AREAS = ("harbour", "downtown", "old town")
CATEGORIES = ("SHAKING", "FIRE")

steps = st.tuples(
    st.sampled_from(["report", "report", "report", "confirm", "confirm", "hide"]),
    st.integers(0, 5),
    st.integers(0, len(USERS) - 1),
    st.sampled_from([0.0, 0.5, 1.0, 59.0, 60.0, 601.0, 1800.0, 3599.0, 7200.0, 20_000.0, 40_000.0]),
)
histories = st.lists(steps, max_size=14)


async def happens(ours: SightingStore, history: Sequence[Step]) -> AsyncGenerator[None, None]:
    """Let the steps of a history happen, each when the next item is taken."""
    for kind, number, user, seconds in history:
        ours.later(seconds)
        if kind == "report":
            area, category = AREAS[number % len(AREAS)], CATEGORIES[number % len(CATEGORIES)]
            await ours.report(USERS[user], category, area=area)
        elif active := await active_items(ours):
            sighting_id = active[number % len(active)]["sightingId"]
            if kind == "confirm":
                await ours.confirming.confirm(USERS[user], sighting_id)
            else:
                await ours.hiding.hide("moderator", sighting_id, "spam")
        yield


async def active_items(ours: SightingStore) -> list[Item]:
    """All active sightings, in no order, found by looking at all that are stored."""
    now = ours.clock() / 1000
    return [item for item in await ours.items(SIGHTING) if item["expiresAt"] > now]
