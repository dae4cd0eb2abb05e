"""Whatever users do, in whatever order, what is stored is what the rules say: a model in plain Python follows them."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from graph.core.days import datetime_of
from graph.core.errors import NotThere
from graph.core.paging import Paging
from graph.domains.sightings.entities import PROFILE, SIGHTING_BY_ID, SIGHTING_CHANGE
from graph.domains.sightings.profiles import streak_on
from graph.store.contract import Put
from graph.store.ordering import PageRequest
from tests.domains.sightings.counted import both_counts
from tests.domains.sightings.in_store import ANNA, BEN, CARA, NOON_S, SightingStore, sightings
from tests.effort import rounds

USERS = (ANNA, BEN, CARA)
CATEGORIES = ("FIRE", "DAMAGE")
PLACES: dict[str, tuple[dict[str, Any], ...]] = {  # each may be written in several ways
    "downtown": ({"area": "Downtown"}, {"area": "downtown!"}, {"area": "DOWNTOWN"}),
    "square": ({"area": "Harbour", "lat": 35.6, "lon": -117.6}, {"area": "harbour", "lat": 35.60005, "lon": -117.6}),
    "pier": ({"area": "Harbour", "lat": 35.61, "lon": -117.6},),
}
AREAS = {"downtown": "downtown", "square": "harbour", "pier": "harbour"}
BEGUN = {"reports": 9, "confirmations": 0, "confirmationsReceived": 19}  # Anna's profile, one short of silver
DAY_S = 86_400


@dataclass
class ModelSighting:
    """A sighting as the rules have it. Times are in epoch seconds."""

    sighting_id: str
    user: str
    category: str
    place: str
    reported_at: int
    expires_at: int
    tier: str
    confirmers: set[str] = field(default_factory=set)


@dataclass
class ModelProfile:
    """A user's totals."""

    reports: int = 0
    confirmations: int = 0
    received: int = 0
    days: set[date] = field(default_factory=set)

    @property
    def tier(self) -> str:
        if self.reports >= 50 and self.received >= 100:
            return "GOLD"
        return "SILVER" if self.reports >= 10 and self.received >= 20 else "BRONZE"

    def streak(self, day: date) -> int:
        """The days in a row until a day, or until the one before."""
        last = day if day in self.days else day - timedelta(days=1)
        return _run(last, self.days)

    @property
    def longest(self) -> int:
        return max([_run(day, self.days) for day in self.days], default=0)


def _run(day: date, days: set[date]) -> int:
    number = 0
    while day - timedelta(days=number) in days:
        number += 1
    return number


def minute(seconds: int) -> int:
    """The next whole minute."""
    return seconds if seconds % 60 == 0 else seconds - seconds % 60 + 60


@dataclass
class Model:
    """What should be stored."""

    now: int = NOON_S
    sightings: list[ModelSighting] = field(default_factory=list)
    profiles: dict[str, ModelProfile] = field(default_factory=lambda: {user: ModelProfile() for user in USERS})
    changes: list[tuple[str, ModelSighting]] = field(default_factory=list)

    @property
    def active(self) -> list[ModelSighting]:
        return [sighting for sighting in self.sightings if self.now < sighting.expires_at]

    def repeated(self, category: str, place: str) -> ModelSighting | None:
        """The sighting that a report repeats."""
        alike = [
            sighting
            for sighting in self.active
            if (sighting.category, sighting.place) == (category, place) and self.now < sighting.reported_at + 600
        ]
        return alike[-1] if alike else None

    def report(self, sighting_id: str, user: str, category: str, place: str) -> None:
        """A new sighting."""
        profile = self.profiles[user]
        new = ModelSighting(sighting_id, user, category, place, self.now, minute(self.now + 1800), profile.tier)
        profile.reports += 1
        profile.days.add(datetime_of(1000 * self.now).date())
        self.sightings.append(new)
        self.changes.append(("REPORTED", new))

    def confirm(self, user: str, sighting: ModelSighting) -> bool:
        """Whether the user's confirmation counts."""
        if user == sighting.user or user in sighting.confirmers:
            return False
        sighting.confirmers.add(user)
        longest = minute(sighting.reported_at + 21_600)
        sighting.expires_at = max(sighting.expires_at, min(minute(self.now + 1800), longest))
        self.profiles[user].confirmations += 1
        self.profiles[sighting.user].received += 1
        self.changes.append(("CONFIRMED", sighting))
        return True

    def hide(self, sighting: ModelSighting) -> None:
        """Take a sighting away."""
        sighting.expires_at = self.now
        self.profiles[sighting.user].reports -= 1
        self.changes.append(("HIDDEN", sighting))


class World:
    """A store, and the model of what it should hold."""

    def __init__(self, ours: SightingStore) -> None:
        self.ours = ours
        self.model = Model()

    async def begin(self) -> None:
        """Give Anna a past."""
        zeros = {"streakDays": 0, "longestStreakDays": 0, "since": 1}
        await self.ours.database.put(Put(PROFILE, {"userId": ANNA, **BEGUN, **zeros}))
        self.model.profiles[ANNA] = ModelProfile(BEGUN["reports"], 0, BEGUN["confirmationsReceived"])

    async def report(self, user: str, category: str, place: str, way: int) -> None:
        repeated = self.model.repeated(category, place)
        outcome = await self.ours.report(user, category, **PLACES[place][way % len(PLACES[place])])
        if repeated:
            assert not outcome.created
            assert outcome.sighting.sighting_id == repeated.sighting_id
            assert outcome.confirmed == self.model.confirm(user, repeated)
        else:
            assert (outcome.created, outcome.confirmed) == (True, False)
            self.model.report(outcome.sighting.sighting_id, user, category, place)

    async def confirm(self, user: str, which: int) -> None:
        if (sighting := self._any(which)) is None:
            return
        try:
            outcome = await self.ours.confirming.confirm(user, sighting.sighting_id)
        except NotThere:
            assert sighting not in self.model.active
        else:
            assert sighting in self.model.active
            assert outcome.confirmed == self.model.confirm(user, sighting)

    async def hide(self, which: int) -> None:
        if (sighting := self._any(which)) is None:
            return
        try:
            await self.ours.hiding.hide("moderator", sighting.sighting_id, "Spam")
        except NotThere:
            assert sighting not in self.model.active
        else:
            assert sighting in self.model.active
            self.model.hide(sighting)

    async def wait(self, seconds: int) -> None:
        self.ours.later(seconds)
        self.model.now += seconds

    def _any(self, which: int) -> ModelSighting | None:
        """Some sighting, often one of the latest."""
        there = self.model.sightings
        return there[-1 - which % len(there)] if there else None

    async def check(self) -> None:
        """Compare what is stored with the model."""
        await self._check_sightings()
        await self._check_profiles()
        await self._check_changes()
        counted, recounted = await both_counts(self.ours)
        assert counted == recounted

    async def _check_sightings(self) -> None:
        active = self.model.active
        stored = {item["sightingId"]: item for item in await self.ours.items(SIGHTING_BY_ID)}
        assert {
            sighting_id: (item["confirmationCount"], item["expiresAt"], item["reporterTier"], item["areaSlug"])
            for sighting_id, item in stored.items()
        } == {
            each.sighting_id: (len(each.confirmers), each.expires_at, each.tier, AREAS[each.place]) for each in active
        }
        assert set(await self.ours.ids()) == stored.keys()
        areas = {area.slug for area in (await self.ours.areas.page(PageRequest(Paging(10)))).records}
        assert areas == {AREAS[each.place] for each in active}
        trends = {trend.category: trend.count for trend in await self.ours.trending.of(24) if trend.count}
        assert trends == Counter(each.category for each in active)

    async def _check_profiles(self) -> None:
        today = datetime_of(self.ours.clock()).date()
        for user, wanted in self.model.profiles.items():
            profile = await self.ours.profiles.of(user)
            assert (profile.reports, profile.confirmations, profile.confirmations_received) == (
                wanted.reports,
                wanted.confirmations,
                wanted.received,
            )
            assert (streak_on(profile, today), profile.longest_streak_days) == (wanted.streak(today), wanted.longest)
            assert profile.tier.value == wanted.tier

    async def _check_changes(self) -> None:
        kept = [
            (number, kind, sighting.sighting_id)
            for number, (kind, sighting) in enumerate(self.model.changes, 1)
            if self.model.now < sighting.reported_at + DAY_S
        ]
        stored = await self.ours.items(SIGHTING_CHANGE)
        assert sorted([(item["change"], item["kind"], item["sightingId"]) for item in stored]) == kept
        assert await self.ours.changes.sequence.latest() == len(self.model.changes)


OPERATIONS = st.one_of(
    st.tuples(
        st.just("report"),
        st.sampled_from(USERS),
        st.sampled_from(CATEGORIES),
        st.sampled_from(list(PLACES)),
        st.integers(0, 2),
    ),
    st.tuples(st.just("confirm"), st.sampled_from(USERS), st.integers(0, 4)),
    st.tuples(st.just("hide"), st.integers(0, 4)),
    st.tuples(st.just("wait"), st.sampled_from([1, 59, 299, 599, 600, 1199, 1800, 7200, 43_200, DAY_S, 2 * DAY_S])),
)


async def follow(engine: str, operations: list[tuple[Any, ...]]) -> None:
    """Do something after the other, and compare after each."""
    async with sightings(engine) as ours:
        world = World(ours)
        await world.begin()
        for name, *arguments in operations:
            await getattr(world, name)(*arguments)
            await world.check()


@given(st.lists(OPERATIONS, max_size=25))
@example([("report", ANNA, "FIRE", "square", 0), ("confirm", BEN, 0), ("report", ANNA, "FIRE", "pier", 0), ("hide", 0)])
@example([("report", BEN, "FIRE", "pier", 0), *[("wait", 1199), ("confirm", ANNA, 0), ("confirm", CARA, 0)] * 3])
@example([("report", BEN, "FIRE", "downtown", 0), ("hide", 0), ("report", BEN, "FIRE", "downtown", 1), ("wait", DAY_S)])
async def test_what_is_stored_is_what_the_rules_say(operations: list[tuple[Any, ...]]) -> None:
    await follow("sqlite", operations)


@given(st.lists(OPERATIONS, min_size=10, max_size=20))
@settings(max_examples=rounds(10, at_least=2))
async def test_it_is_the_same_on_dynamodb(dynamodb_endpoint: str, operations: list[tuple[Any, ...]]) -> None:
    await follow("dynamodb", operations)
