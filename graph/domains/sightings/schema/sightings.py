"""Sightings: their type, and the lists of them."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import strawberry
from strawberry import auto

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context, Info, load_by
from graph.api.fields import field, optional, shows
from graph.api.record_type import record_type
from graph.api.scalars import millis_ceil, millis_floor
from graph.api.selected import needs, selected_attributes
from graph.core.errors import BadUserInput
from graph.core.paging import Page
from graph.domains.earthquakes import model as earthquakes
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.schema.events import Event
from graph.domains.earthquakes.schema.filters import CircleInput
from graph.domains.sightings import confidence as confidences
from graph.domains.sightings import model
from graph.domains.sightings.areas import NamedArea
from graph.domains.sightings.categories import Categories
from graph.domains.sightings.confidence import Freshness
from graph.domains.sightings.grid import RoundedPosition
from graph.domains.sightings.lifetimes import Lifetimes
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.schema.values import SightingCategory
from graph.domains.sightings.scopes import SIGHTINGS_READ
from graph.domains.sightings.selection import MOST_AREAS, MOST_EVENTS, SightingSelection
from graph.domains.sightings.tiers import TrustTier
from graph.geography.areas import Circle
from graph.store.ordering import PageRequest

CONFIDENCE = ("expiresAt", "confirmationCount", "reporterTier")

At = Annotated[datetime | None, "The time; by default now."]


@record_type(
    model.Sighting,
    load=load_by(Sightings, Sightings.by_id),
    scope=SIGHTINGS_READ,
    key="sighting_id",
    pages="sightings",
)
class Sighting(relay.Node):
    category: SightingCategory
    area_slug: auto = strawberry.field(name="area")
    area_name: str = shows("The name of its area, as the reporter wrote it.", metadata=needs("area"))

    position = field(
        "Where it is, rounded. Null if the reporter gave no position.",
        of=RoundedPosition | None,
        reads=["cell", "lat", "lon"],
    )(relay.itself_with("cell", "lat", "lon"))

    @field("How far its reporter was trusted at the report.", reads=["reporterTier"])
    @staticmethod
    def reporter_tier(sighting: strawberry.Parent[model.Sighting]) -> TrustTier:
        return sighting.tier

    @field("How much it can be trusted at a time, by the confirmations until now.", reads=[*CONFIDENCE])
    @staticmethod
    def confidence(sighting: strawberry.Parent[model.Sighting], info: Info, at: At = None) -> confidences.Confidence:
        return _confidence(sighting, info, at)

    @field("How fresh it looks at a time.", reads=[*CONFIDENCE])
    @staticmethod
    def freshness(sighting: strawberry.Parent[model.Sighting], info: Info, at: At = None) -> Freshness:
        return Freshness.of(_confidence(sighting, info, at).total)

    @field("Whether the caller has reported it.", reads=["userId"])
    @staticmethod
    def own(sighting: strawberry.Parent[model.Sighting], info: Info) -> bool:
        return sighting.user_id is not None and sighting.user_id == info.context.caller.subject

    @field("The earthquake that the reporter names.", cost=10, reads=["eventId"])
    @staticmethod
    async def event(sighting: strawberry.Parent[model.Sighting], info: Info) -> earthquakes.Event | None:
        if sighting.event_id is None:
            return None
        attributes = selected_attributes(info, earthquakes.Event)
        return await info.context.loader(Event.found_by.load, attributes).load(sighting.event_id)


def _confidence(sighting: model.Sighting, info: Info, at: datetime | None) -> confidences.Confidence:
    seconds = info.context.clock() / 1000 if at is None else at.timestamp()
    return sighting.confidence_at(seconds, info.context.service(Lifetimes).new)


@strawberry.input(description="The selected sightings: those that fulfil all given conditions.")
class SightingFilter:
    areas: list[str] | None = optional("Names or slugs of areas, at most 100.")
    categories: list[SightingCategory] | None = optional("What they are about.")
    near: CircleInput | None = optional("Near a point, by their rounded positions. Sightings without one are left out.")
    event_ids: list[strawberry.ID] | None = optional(
        f"Those whose reporters name one of these earthquakes, at most {MOST_EVENTS}, by global ids or any own ids."
    )
    start_time: datetime | None = optional("Earliest time of the report, inclusive.")
    end_time: datetime | None = optional("Latest time of the report, inclusive. A date includes that whole day.")


async def selection_of(context: Context, filter: SightingFilter | None) -> SightingSelection:
    """The selection of a filter; all sightings without one.

    Raises:
        BadUserInput: A value is impossible.
    """
    if filter is None:
        return SightingSelection()
    for category in filter.categories or ():
        context.service(Categories).check_wanted("categories", category)
    near = filter.near
    return SightingSelection(
        areas=None if filter.areas is None else _checked(filter.areas),
        categories=None if filter.categories is None else tuple(filter.categories),
        near=Circle(near.lat, near.lon, near.radius_km) if near else None,
        event_ids=None if filter.event_ids is None else await _all_ids_of(context, filter.event_ids),
        start_ms=millis_ceil(filter.start_time) if filter.start_time else None,
        end_ms=millis_floor(filter.end_time) if filter.end_time else None,
    )


def _checked(areas: Sequence[str]) -> tuple[str, ...]:
    """The names or slugs of areas, each of which may be one."""
    if len(areas) > MOST_AREAS:
        raise BadUserInput(f"`areas` takes at most {MOST_AREAS} areas.")
    return tuple(NamedArea.of_name(each, "areas").name for each in areas)


async def _all_ids_of(context: Context, event_ids: Sequence[str]) -> tuple[str, ...]:
    """All ids of the earthquakes with these ones."""
    if len(event_ids) > MOST_EVENTS:
        raise BadUserInput(f"`eventIds` takes at most {MOST_EVENTS} events.")
    catalogue, keys = context.service(Catalogue), {relay.key_of(Event, each, "eventIds") for each in event_ids}
    events = await asyncio.gather(*[catalogue.event(each) for each in sorted(keys)])
    return tuple(dict.fromkeys(alias for event in events if event for alias in event.aliases))


class SightingQueries:
    @connection_field("The active sightings, newest first.", model.BY_TIME, scope=SIGHTINGS_READ)
    async def sightings(
        self,
        info: Info,
        page: PageRequest,
        filter: Annotated[SightingFilter | None, "Which sightings; by default all."] = None,
    ) -> Page[model.Sighting]:
        return await info.context.service(Sightings).page(await selection_of(info.context, filter), page)

    @field("The active sighting with this id; null if there is none.", scope=SIGHTINGS_READ)
    async def sighting(
        self,
        info: Info,
        sighting_id: Annotated[strawberry.ID, "Its global id, or its own id."],
    ) -> model.Sighting | None:
        found = await info.context.service(Sightings).by_id(
            [relay.key_of(Sighting, sighting_id, "sightingId")], selected_attributes(info, model.Sighting)
        )
        return next(iter(found.values()), None)

    @field("The categories of sightings that this service has.", scope=SIGHTINGS_READ, size=10)
    def sighting_categories(self, info: Info) -> list[SightingCategory]:
        return [SightingCategory(each) for each in info.context.service(Categories).names]
