"""Stores reports: as new sightings, or as confirmations of those that they repeat.

One transaction stores a new sighting with all that follows from it: its copies, its reporter's profile, its area, the
answers to the questionnaire, and the numbered change. So a crash loses all of it or nothing.
"""

from dataclasses import dataclass
from functools import cached_property

from graph.core.clock import Clock
from graph.core.described import described, optional, value
from graph.core.errors import BadUserInput, NotThere
from graph.core.uuid7 import uuid7
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.sightings import copies, profiles
from graph.domains.sightings.active_areas import ActiveAreas
from graph.domains.sightings.adopting import Adopting
from graph.domains.sightings.areas import KnownAreas, ReportedPlace
from graph.domains.sightings.categories import Categories
from graph.domains.sightings.changes import SightingChanges
from graph.domains.sightings.checking import check_text
from graph.domains.sightings.confirming import Confirming
from graph.domains.sightings.felt_reports import FeltReport, count_once, felt_report
from graph.domains.sightings.iso import iso_of
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.model import (
    LONGEST_TEXT,
    REPORTED_TEXT,
    Profile,
    ReportOutcome,
    Sighting,
    SightingChangeKind,
)
from graph.domains.sightings.questionnaire import Answers, Questionnaire
from graph.domains.sightings.rates import one_more_report
from graph.domains.sightings.recent_reports import Recent
from graph.domains.sightings.selection import list_of_event, list_of_user, lists_of_position
from graph.store.contract import Database
from graph.store.entity import Item
from graph.store.rounds import until_applied


@value
class Report:
    """What somebody feels or sees. It has an area, a position, or both."""

    category: str = described("What it is about.")
    area: str | None = optional("The area's name or slug; by default that of the position.")
    lat: float | None = optional("Degrees north. It is rounded to a cell of 10 km before it is stored.")
    lon: float | None = optional("Degrees east, rounded likewise.")
    text: str | None = optional(f"Plain text of at most {LONGEST_TEXT} characters, without `<` and `>`.")
    questionnaire: Questionnaire | None = optional(
        "What was felt. It needs a position, and is counted without the reporter's name."
    )
    event_id: str | None = optional("The earthquake that it is about, if known: its global id, or any own id.")
    answers: Answers | None = None  # those of the questionnaire


@dataclass(frozen=True, kw_only=True)
class Reporting:
    """Stores reports."""

    database: Database
    catalogue: Catalogue
    categories: Categories
    known: KnownAreas
    lifetimes: Lifetimes
    clock: Clock
    most: int  # reports of a user in an area or from a cell of 10 km within an hour

    @cached_property
    def changes(self) -> SightingChanges:
        """The changes of sightings."""
        return SightingChanges(self.database)

    @cached_property
    def areas(self) -> ActiveAreas:
        """The active areas."""
        return ActiveAreas(self.database, self.clock, longest_s=self.lifetimes.longest_kept)

    @cached_property
    def confirming(self) -> Confirming:
        """What stores confirmations."""
        return Confirming(self.database, self.changes, self.areas, self.lifetimes, self.adopting, self.clock)

    @cached_property
    def adopting(self) -> Adopting:
        """What adopts sightings of other programs."""
        return Adopting(self.database, self.changes, self.areas, self.lifetimes, self.categories, self.clock)

    async def report(self, user_id: str, report: Report) -> ReportOutcome:
        """Store a report, as a new sighting or as a confirmation.

        Raises:
            BadUserInput: A value is impossible.
            NotThere: The catalogue does not have the named earthquake.
            TooManyReports: The user has to wait.
        """
        self.categories.check("category", report.category)
        if report.text is not None:
            check_text(REPORTED_TEXT, report.text)
        place = self.known.place_of(report.area, report.lat, report.lon)
        return await self._store(user_id, report, place, await self._named_event(report))

    @until_applied("other reports kept coming first")
    async def _store(
        self, user_id: str, report: Report, place: ReportedPlace, event_id: str | None
    ) -> ReportOutcome | None:
        now = self.clock() // 1000
        recent = await Recent.of(self.database, report.category, place, report.text, event_id, now)
        felt = self._felt(report, event_id)
        if recent.sighting:
            return await self._repeated(user_id, recent.sighting, felt)
        created = await self._create(user_id, report, place, event_id, recent, felt)
        return ReportOutcome(created, created=True) if created else None

    async def _named_event(self, report: Report) -> str | None:
        """The own id of the earthquake that a report names by any of its ids."""
        if report.event_id is None:
            return None
        event = await self.catalogue.event(report.event_id, frozenset({"eventId"}))
        if event is None:
            raise NotThere("eventId", "earthquake")
        return event.event_id

    def _felt(self, report: Report, event_id: str | None) -> FeltReport | None:
        if report.answers is None:
            return None
        if report.lat is None or report.lon is None:
            raise BadUserInput("A `questionnaire` needs `lat` and `lon`.")
        return felt_report(report.answers, report.lat, report.lon, self.clock() // 1000, event_id)

    async def _repeated(self, user_id: str, sighting: Sighting, felt: FeltReport | None) -> ReportOutcome | None:
        """Confirm the sighting that a report repeats. None if it has expired just now."""
        try:
            outcome = await self.confirming.confirm(user_id, sighting.sighting_id, felt)
        except NotThere:
            return None
        return ReportOutcome(outcome.sighting, confirmed=outcome.confirmed)

    async def _create(
        self,
        user_id: str,
        report: Report,
        place: ReportedPlace,
        event_id: str | None,
        recent: Recent,
        felt: FeltReport | None,
    ) -> Sighting | None:
        """Store a new sighting. None if something that it depends on has changed meanwhile."""
        profile = await profiles.profile_of(self.database, user_id)
        sighting = self._sighting(profile, report, place, event_id)
        stored = await self.changes.store(
            SightingChangeKind.REPORTED,
            sighting,
            [
                *copies.puts(sighting),
                *recent.with_new(sighting),
                *await one_more_report(self.database, user_id, place.slugs, self.clock() // 1000, most=self.most),
                *await profiles.reported(self.database, profile, self.clock()),
                *await self.areas.with_new(sighting, place.area),
                *await count_once(self.database, {user_id: felt} if felt else {}),
            ],
        )
        return Sighting(sighting) if stored else None

    def _sighting(self, profile: Profile, report: Report, place: ReportedPlace, event_id: str | None) -> Item:
        now = self.clock()
        optional = {
            "text": report.text,
            "cell": place.cell,
            **(place.rounded._asdict() if place.rounded else {}),
            "eventId": event_id,
        }
        lists = [
            list_of_user(profile.user_id),
            *(lists_of_position(*place.rounded) if place.rounded else ()),
            *([list_of_event(event_id)] if event_id else ()),
        ]
        return self.lifetimes.ranked(
            {
                "sightingId": uuid7(now),
                "userId": profile.user_id,
                "areaSlug": place.area.slug,
                "area": place.area.name,
                "category": report.category,
                "reportedAt": iso_of(now // 1000),
                "expiresAt": self.lifetimes.first_expiry(now // 1000),
                "reporterTier": profile.tier.value,
                "confirmationCount": 0,
                "lists": lists,
                **{name: value for name, value in optional.items() if value is not None},
            }
        )
