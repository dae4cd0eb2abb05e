"""The caller's profile."""

import strawberry

from graph.api.connection_field import connection_field
from graph.api.context import Info
from graph.api.fields import field, shows
from graph.api.record_type import record_type
from graph.core.days import datetime_of
from graph.core.paging import Page
from graph.domains.sightings import model
from graph.domains.sightings.profiles import profile_of, streak_on
from graph.domains.sightings.reading import Sightings
from graph.domains.sightings.reporting import Reporting
from graph.domains.sightings.scopes import SIGHTINGS_WRITE
from graph.domains.sightings.selection import SightingSelection
from graph.domains.sightings.tiers import TrustTier
from graph.store.ordering import PageRequest


@record_type(model.Profile)
class Profile:
    tier: TrustTier = shows("How far the caller's next report is trusted.")

    @field("Days in a row with a report until today or yesterday, UTC.")
    @staticmethod
    def streak_days(profile: strawberry.Parent[model.Profile], info: Info) -> int:
        return streak_on(profile, datetime_of(info.context.clock()).date())

    @connection_field("The caller's active sightings, newest first.", model.BY_TIME, cost=10)
    @staticmethod
    async def sightings(
        profile: strawberry.Parent[model.Profile], info: Info, page: PageRequest
    ) -> Page[model.Sighting]:
        return await info.context.service(Sightings).page(SightingSelection(user_id=profile.user_id), page)


class ProfileQueries:
    @field("What the caller has reported and confirmed.", scope=SIGHTINGS_WRITE)
    async def profile(self, info: Info) -> model.Profile:
        return await profile_of(info.context.service(Reporting).database, info.context.user)
