"""Trending: what is seen most, by category."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, cast

import strawberry

from graph.api.connection_field import connection_field
from graph.api.context import Info, load_by
from graph.api.fields import field, shows
from graph.api.record_type import record_type
from graph.core.days import datetime_of_seconds
from graph.core.errors import BadUserInput
from graph.core.paging import Page
from graph.domains.sightings import model
from graph.domains.sightings.entities import BY_CONFIDENCE
from graph.domains.sightings.reading import LONGEST_WINDOW_S, Sightings, Trend
from graph.domains.sightings.schema.values import SightingCategory
from graph.domains.sightings.scopes import SIGHTINGS_READ
from graph.store.ordering import PageRequest

FIRST_PAGES = load_by(Sightings, Sightings.most_trusted)


@record_type(Trend, "The active sightings of a category.")
class SightingTrend:
    category: SightingCategory = shows("The category.")
    count: int = shows("The exact number of active sightings that were reported since then.")

    @field("The beginning of the window, a whole hour.")
    @staticmethod
    def starts_at(trend: strawberry.Parent[Trend]) -> datetime:
        return datetime_of_seconds(trend.since)

    @connection_field("These sightings, the one with the highest confidence first.", BY_CONFIDENCE, cost=10, reads=[])
    @staticmethod
    async def sightings(trend: strawberry.Parent[Trend], info: Info, page: PageRequest) -> Page[model.Sighting]:
        paging = page.paging
        if paging.after or paging.before or paging.backward:
            found = await info.context.service(Sightings).by_confidence(trend.category, trend.since, page)
        else:
            first = info.context.loader(FIRST_PAGES, (trend.since, page))
            found = cast("Page[model.Sighting]", await first.load(trend.category))
        return replace(found, total=trend.count)


class TrendingQueries:
    @field(
        "The categories of sightings, the one with the most active sightings first.",
        scope=SIGHTINGS_READ,
        cost=10,
        size=10,
    )
    async def trending(
        self,
        info: Info,
        window_seconds: Annotated[int, f"Reported within so many seconds, 1 … {LONGEST_WINDOW_S:,}."] = 21_600,
    ) -> list[Trend]:
        if not 1 <= window_seconds <= LONGEST_WINDOW_S:
            raise BadUserInput(f"`windowSeconds` must lie between 1 and {LONGEST_WINDOW_S:,}.")
        return await info.context.service(Sightings).trends(window_seconds)
