"""What users write: reports, confirmations, and moderators' hidings."""

from dataclasses import replace

import strawberry

from graph.api import relay
from graph.api.context import Info
from graph.api.fields import shows
from graph.api.mutations import Deleted, deleted, mutation
from graph.api.value_input import value_input
from graph.domains.earthquakes.schema.events import Event
from graph.domains.sightings import model
from graph.domains.sightings.confirming import Confirming
from graph.domains.sightings.entities import LONGEST_REASON
from graph.domains.sightings.hiding import hide
from graph.domains.sightings.questionnaire import Questionnaire, checked
from graph.domains.sightings.reporting import Report, Reporting
from graph.domains.sightings.schema.sightings import Sighting
from graph.domains.sightings.schema.values import SightingCategory
from graph.domains.sightings.scopes import SIGHTINGS_MODERATE, SIGHTINGS_WRITE

value_input(Questionnaire, "FeltInput")
value_input(Report, "ReportSightingInput", category=SightingCategory)


@strawberry.input(description="The sighting that the caller has seen, too.")
class ConfirmSightingInput:
    sighting_id: strawberry.ID = shows("Its global id, or its own id.")


@strawberry.input(description="The sighting that has to go, and why.")
class HideSightingInput:
    sighting_id: strawberry.ID = shows("Its global id, or its own id.")
    reason: str = shows(f"Why, at most {LONGEST_REASON} characters. It is stored and logged.")


class ReportingMutations:
    @mutation(
        "Report what one feels or sees. What is reported already is confirmed instead.", scope=SIGHTINGS_WRITE, cost=10
    )
    async def report_sighting(self, info: Info, input: Report) -> model.ReportOutcome:
        report = replace(
            input,
            answers=None if input.questionnaire is None else checked(input.questionnaire),
            event_id=input.event_id and relay.key_of(Event, input.event_id, "eventId"),
        )
        return await info.context.service(Reporting).report(info.context.user, report)

    @mutation("Confirm a sighting, which makes it last longer and count more.", scope=SIGHTINGS_WRITE, cost=10)
    async def confirm_sighting(self, info: Info, input: ConfirmSightingInput) -> model.ConfirmationOutcome:
        key = relay.key_of(Sighting, input.sighting_id, "sightingId")
        return await info.context.service(Confirming).confirm(info.context.user, key)

    @mutation("Hide a sighting for good.", scope=SIGHTINGS_MODERATE, cost=10)
    async def hide_sighting(self, info: Info, input: HideSightingInput) -> Deleted:
        key = relay.key_of(Sighting, input.sighting_id, "sightingId")
        return deleted(Sighting, await hide(info.context.service(Reporting), info.context.user, key, input.reason))
