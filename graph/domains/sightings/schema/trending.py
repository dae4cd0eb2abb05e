"""Trending: what is seen most, by category."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import strawberry
from strawberry.types import Info

from graph.api import relay
from graph.api.connection_field import connection_field
from graph.api.context import Context
from graph.api.scopes import RequiresScope
from graph.api.selected import needs
from graph.api.sizes import Cost, ListSize
from graph.core.days import datetime_of
from graph.core.errors import BadUserInput
from graph.core.paging import Page
from graph.domains.sightings import model, trending
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.schema.sightings import SightingConnection
from graph.domains.sightings.schema.values import SightingCategory
from graph.domains.sightings.scopes import SIGHTINGS_READ
from graph.domains.sightings.trending import LONGEST_WINDOW_HOURS, Trending
from graph.store.ordering import PageRequest


@strawberry.type(description="The active sightings of a category.")
class SightingTrend:
    category: SightingCategory = strawberry.field(description="The category.")
    count: int = strawberry.field(description="The exact number of active sightings that were reported since then.")

    @strawberry.field(description="The beginning of the window, a whole hour.")
    @staticmethod
    def since(trend: strawberry.Parent[trending.Trend]) -> datetime:
        return datetime_of(1000 * trend.since)

    @connection_field(
        SightingConnection,
        model.BY_CONFIDENCE,
        model.Sighting,
        description="These sightings, the one with the highest confidence first.",
        directives=[relay.PAGE_SIZE, Cost(weight="10")],
        metadata=needs(),
    )
    @staticmethod
    async def sightings(
        trend: strawberry.Parent[trending.Trend], info: Info[Context, None], page: PageRequest
    ) -> Page[model.Sighting]:
        paging = page.paging
        if paging.after or paging.before or paging.backward:
            return await info.context.service(Sightings).by_confidence(trend.category, trend.since, page)
        first = FirstPages(trend.since, paging.size, page.attributes)
        return await info.context.loader(_first_pages, first).load(trend.category)


class FirstPages(NamedTuple):
    """The first pages of categories that are read together."""

    since: int  # epoch seconds
    size: int
    attributes: frozenset[str] | None


async def _first_pages(context: Context, first: FirstPages, categories: Sequence[str]) -> list[Page[model.Sighting]]:
    """The first pages of the sightings of categories, in the same order."""
    wanted = list(dict.fromkeys(categories))
    pages = await context.service(Sightings).most_trusted(wanted, *first)
    found = dict(zip(wanted, pages, strict=True))
    return [found[category] for category in categories]


@strawberry.type
class TrendingQueries:
    @strawberry.field(
        description="The categories of sightings, the one with the most active sightings first.",
        graphql_type=list[SightingTrend],
        directives=[RequiresScope(scope=SIGHTINGS_READ), Cost(weight="10"), ListSize(assumed_size=10)],
    )
    async def trending(
        self,
        info: Info[Context, None],
        window_hours: Annotated[
            int, strawberry.argument(description=f"Reported within so many hours, 1 … {LONGEST_WINDOW_HOURS}.")
        ] = 6,
    ) -> Any:
        if not 1 <= window_hours <= LONGEST_WINDOW_HOURS:
            raise BadUserInput(f"`windowHours` must lie between 1 and {LONGEST_WINDOW_HOURS}.")
        return await info.context.service(Trending).of(window_hours)
