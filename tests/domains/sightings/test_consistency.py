"""Whatever users do, in whatever order, what is stored is what the rules say: a model in plain Python follows them.

`HISTORIES` has what each rule is about. Hypothesis looks for the rest.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.core.days import datetime_of
from graph.core.errors import NotThere
from graph.core.paging import Page, Paging
from graph.domains.sightings.categories import Categories
from graph.domains.sightings.confidence import rank
from graph.domains.sightings.entities import AREAS, PROFILE, SIGHTING_BY_ID, SIGHTING_CHANGE
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.model import ActiveArea, Sighting
from graph.domains.sightings.profiles import streak_on
from graph.domains.sightings.reading import HOUR_S, Trend
from graph.domains.sightings.tiers import TrustTier
from graph.store.contract import Put
from graph.store.ordering import PageRequest
from tests.domains.earthquakes.builders import at
from tests.domains.sightings.counted import check_counts
from tests.domains.sightings.in_store import ANNA, BEN, CARA, LIFETIMES, SightingStore, held_clock, sightings
from tests.effort import rounds

USERS = (ANNA, BEN, CARA)
CATEGORIES = ("FIRE", "DAMAGE")
PLACES: dict[str, tuple[dict[str, Any], ...]] = {  # each may be written in several ways
    "downtown": ({"area": "Downtown"}, {"area": "downtown!"}, {"area": "DOWNTOWN"}),
    "harbour": ({"area": "Harbour"},),
    "square": ({"area": "Harbour", "lat": 35.6, "lon": -117.6}, {"area": "harbour", "lat": 35.56, "lon": -117.6}),
    "pier": ({"area": "Harbour", "lat": 35.66, "lon": -117.6},),
}
AREA_OF = {"downtown": "downtown", "harbour": "harbour", "square": "harbour", "pier": "harbour"}
WINDOWS = (1, 6, 23, 24)  # hours
BEGUN = {"reports": 9, "confirmations": 0, "confirmationsReceived": 19}  # Anna's profile, one short of silver
DAY_S = 86_400

LONG = Lifetimes(new=7200, refreshed=43_200, longest=82_800)
"""The longest possible lives: of 23 hours."""


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

    now: int
    lifetimes: Lifetimes
    sightings: list[ModelSighting] = field(default_factory=list)
    profiles: defaultdict[str, ModelProfile] = field(default_factory=lambda: defaultdict(ModelProfile))
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
        expires_at = minute(self.now + self.lifetimes.new)
        new = ModelSighting(sighting_id, user, category, place, self.now, expires_at, profile.tier)
        profile.reports += 1
        profile.days.add(datetime_of(1000 * self.now).date())
        self.sightings.append(new)
        self.changes.append(("REPORTED", new))

    def confirm(self, user: str, sighting: ModelSighting) -> bool:
        """Whether the user's confirmation counts."""
        if user == sighting.user or user in sighting.confirmers:
            return False
        sighting.confirmers.add(user)
        longest = minute(sighting.reported_at + self.lifetimes.longest)
        sighting.expires_at = max(sighting.expires_at, min(minute(self.now + self.lifetimes.refreshed), longest))
        self.profiles[user].confirmations += 1
        self.profiles[sighting.user].received += 1
        self.changes.append(("CONFIRMED", sighting))
        return True

    def hide(self, sighting: ModelSighting) -> None:
        """Take a sighting away."""
        sighting.expires_at = self.now
        self.profiles[sighting.user].reports -= 1
        self.profiles[sighting.user].received -= len(sighting.confirmers)
        self.changes.append(("HIDDEN", sighting))

    def trends(self, window_hours: int) -> list[Trend]:
        """How many sightings are active of those of the last hours, by category."""
        since = self.now // HOUR_S * HOUR_S - window_hours * HOUR_S
        counts = Counter(each.category for each in self.active if each.reported_at >= since)
        names = sorted(Categories().names, key=lambda name: -counts[name])
        return [Trend(name, since, counts[name]) for name in names]

    @property
    def areas(self) -> list[tuple[str, int]]:
        """The areas with active sightings, each with the last expiry of one, the last first."""
        latest = dict[str, int]()
        for each in self.active:
            area = AREA_OF[each.place]
            latest[area] = max(each.expires_at, latest.get(area, 0))
        return sorted(latest.items(), key=lambda each: each[::-1], reverse=True)


class World:
    """A store, and the model of what it should hold."""

    def __init__(self, ours: SightingStore, lifetimes: Lifetimes) -> None:
        self.ours = ours
        self.model = Model(ours.clock() // 1000, lifetimes)

    async def begin(self) -> None:
        """Give Anna a past."""
        zeros = {"streakDays": 0, "longestStreakDays": 0, "since": 1}
        await self.ours.database.put(Put(PROFILE, {"userId": ANNA, **BEGUN, **zeros}))
        self.model.profiles |= {user: ModelProfile() for user in (*USERS, "nobody")}
        self.model.profiles[ANNA] = ModelProfile(BEGUN["reports"], 0, BEGUN["confirmationsReceived"])

    async def report(self, user: str, category: str, place: str, way: int) -> None:
        repeated = self.model.repeated(category, place)
        outcome = await self.ours.report(user, category, **PLACES[place][way % len(PLACES[place])])
        if repeated:
            assert not outcome.created
            assert outcome.sighting.sighting_id == repeated.sighting_id
            assert outcome.confirmed == self.model.confirm(user, repeated)
            assert _shown(outcome.sighting) == (len(repeated.confirmers), repeated.expires_at)
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
            assert _shown(outcome.sighting) == (len(sighting.confirmers), sighting.expires_at)

    async def hide(self, which: int) -> None:
        if (sighting := self._any(which)) is None:
            return
        try:
            await self.ours.hide("moderator", sighting.sighting_id, "Spam")
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
        await check_counts(self.ours)

    async def _check_sightings(self) -> None:
        stored = {item["sightingId"]: item for item in await self.ours.items(SIGHTING_BY_ID)}
        assert {
            sighting_id: (item["confirmationCount"], item["expiresAt"], item["reporterTier"], item["areaSlug"])
            for sighting_id, item in stored.items()
        } == {
            each.sighting_id: (len(each.confirmers), each.expires_at, each.tier, AREA_OF[each.place])
            for each in self.model.active
        }
        for item in stored.values():
            tier, count = TrustTier(item["reporterTier"]), item["confirmationCount"]
            of = {"expires_at": item["expiresAt"], "confirmations": count, "tier": tier}
            assert item["rank"] == rank(**of, lifetime=self.model.lifetimes.new)
        assert set(await self.ours.ids()) == stored.keys()
        assert [(area.slug, area.item["expiresAt"]) for area in await self._areas()] == self.model.areas
        for window_hours in WINDOWS:
            assert await self.ours.sightings.trends(3600 * window_hours) == self.model.trends(window_hours)

    async def _areas(self) -> list[ActiveArea]:
        """All active areas, one a page."""
        found: list[ActiveArea] = []
        more, cursor = True, None
        while more:
            page: Page[ActiveArea] = await self.ours.areas.page(PageRequest(Paging(1, after=cursor)))
            found += page.records
            more = bool(page.has_more)
            cursor = AREAS.place_of(AREAS.cursor_of(page.records[-1].item), "after") if more else None
        return found

    async def _check_profiles(self) -> None:
        today = datetime_of(self.ours.clock()).date()
        for user, wanted in self.model.profiles.items():
            profile = await self.ours.profile(user)
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


def _shown(sighting: Sighting) -> tuple[int, int]:
    return sighting.confirmations, sighting.item["expiresAt"]


Step = tuple[Any, ...]


def report(user: str, place: str = "downtown", category: str = "FIRE", way: int = 0) -> Step:
    """Somebody reports something, and writes the place in one of its ways."""
    return ("report", user, category, place, way)


def confirm(user: str, which: int = 0) -> Step:
    """Somebody confirms the latest sighting, or one so many before it."""
    return ("confirm", user, which)


def hide(which: int = 0) -> Step:
    """The latest sighting is hidden, or one so many before it."""
    return ("hide", which)


def wait(seconds: int) -> Step:
    """Time passes."""
    return ("wait", seconds)


HISTORIES: dict[str, list[Step]] = {
    "area": [report(ANNA), wait(599), report(BEN, way=1), wait(1), report(CARA, way=2)],
    "position": [report(ANNA, "square"), wait(599), report(BEN, "square", way=1), wait(1), report(CARA, "square")],
    "once": [
        *(report(ANNA), report(ANNA), report(BEN), report(BEN), report(CARA), confirm(BEN), confirm(ANNA)),
        *(report(CARA, "pier"), confirm(CARA), confirm(BEN), confirm(BEN), report(BEN, "pier")),
    ],
    "other": [
        *(report(ANNA, "square"), report(BEN, "square", "DAMAGE"), report(BEN, "harbour"), report(CARA)),
        *(report(CARA, "pier"), report(BEN, "pier")),
    ],
    "confirmer": [report(BEN), confirm(CARA), report(CARA, "pier")],
    "hidden": [report(ANNA), wait(100), hide(), hide(), confirm(BEN), report(ANNA), report(BEN), hide(), report(CARA)],
    "expired": [report(ANNA), wait(1799), confirm(BEN), wait(1800), report(BEN), wait(1800), confirm(CARA), hide()],
    "last": [
        *(report(BEN, "square"), wait(300), report(BEN, "square", "DAMAGE"), wait(300), report(BEN, "pier")),
        *(confirm(ANNA), report(CARA), hide(1), hide(3), hide(2), report(BEN, "square")),
    ],
    "streak": [
        *(report(CARA), wait(DAY_S // 2 - 1), report(CARA, "pier"), wait(1), wait(DAY_S - 1), report(CARA), wait(1)),
        *(wait(DAY_S - 1), wait(1), report(CARA), wait(DAY_S), report(CARA), wait(2 * DAY_S), report(CARA)),
    ],
    "tier": [report(ANNA), confirm(BEN), report(ANNA, "pier"), wait(400 * DAY_S), report(ANNA), hide(), report(BEN)],
}


async def follow(engine: str, history: list[Step], lifetimes: Lifetimes = LIFETIMES, time: str = "12:00:00") -> None:
    """Do something after the other, and compare after each."""
    clock = held_clock()
    clock.now = at(f"2100-03-02T{time}")
    async with sightings(engine, clock, lifetimes=lifetimes) as ours:
        world = World(ours, lifetimes)
        await world.begin()
        for name, *arguments in history:
            await getattr(world, name)(*arguments)
            await world.check()


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
async def test_what_is_stored_is_what_the_rules_say(history: list[Step]) -> None:
    await follow("sqlite", history)


@pytest.mark.parametrize(
    ("lifetimes", "waits"),
    [
        (LIFETIMES, [1]),  # expires on a whole minute, rounded up
        (LIFETIMES, [60, 1799]),
        (Lifetimes(new=1800, refreshed=600, longest=21_600), [1000]),  # never earlier
        (Lifetimes(new=1800, refreshed=0, longest=21_600), [1000]),
        (Lifetimes(new=1800, refreshed=1800, longest=1900), [1000]),  # never beyond the longest
        (Lifetimes(new=600, refreshed=600, longest=3600), [500] * 7 + [99, 1]),
        (LONG, [2 * HOUR_S - 600, 11 * HOUR_S, 10 * HOUR_S + 599, 1]),
    ],
    ids=["rounded", "refreshed", "never earlier", "not refreshed", "longest", "again and again", "23 hours"],
)
async def test_a_sighting_lasts_as_long_as_the_settings_say(lifetimes: Lifetimes, waits: list[int]) -> None:
    """And counts until then in the hours that it lies in. In its 24th, the hour of the day of its report is back."""
    confirming = [step for n, seconds in enumerate(waits) for step in (wait(seconds), confirm(f"user{n}"))]
    for time in ("00:00:00", "00:59:59", "13:20:30", "23:59:59"):
        await follow("sqlite", [report(BEN), *confirming], lifetimes, time)


steps = st.one_of(
    st.builds(
        report, st.sampled_from(USERS), st.sampled_from(list(PLACES)), st.sampled_from(CATEGORIES), st.integers(0, 2)
    ),
    st.builds(confirm, st.sampled_from(USERS), st.integers(0, 4)),
    st.builds(hide, st.integers(0, 4)),
    st.builds(wait, st.sampled_from([1, 59, 299, 599, 600, 1199, 1800, 3599, 7200, 20_000, 43_200, DAY_S, 2 * DAY_S])),
)
beginnings = st.sampled_from(["12:00:00", "00:00:00", "00:59:59", "12:59:30", "22:30:01", "23:59:59"])


@given(history=st.lists(steps, max_size=25), lifetimes=st.sampled_from([LIFETIMES, LONG]), time=beginnings)
async def test_so_it_is_after_any_history(history: list[Step], lifetimes: Lifetimes, time: str) -> None:
    await follow("sqlite", history, lifetimes, time)


@given(st.lists(steps, min_size=10, max_size=20))
@settings(max_examples=rounds(10, at_least=2))
async def test_so_it_is_after_any_history_on_dynamodb(dynamodb_endpoint: str, history: list[Step]) -> None:
    await follow("dynamodb", history)
