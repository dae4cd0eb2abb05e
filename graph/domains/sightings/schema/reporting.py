"""What users write: reports, confirmations, and moderators' hidings."""

import strawberry

from graph.api import relay
from graph.api.context import Info
from graph.api.fields import optional, shows
from graph.api.mutations import Deleted, deleted, mutation
from graph.domains.earthquakes.schema.events import Event
from graph.domains.sightings import model
from graph.domains.sightings.confirming import Confirming
from graph.domains.sightings.entities import LONGEST_REASON
from graph.domains.sightings.hiding import hide
from graph.domains.sightings.model import LONGEST_TEXT
from graph.domains.sightings.questionnaire import checked
from graph.domains.sightings.reporting import Report, Reporting
from graph.domains.sightings.schema.sightings import Sighting
from graph.domains.sightings.schema.values import SightingCategory
from graph.domains.sightings.scopes import SIGHTINGS_MODERATE, SIGHTINGS_WRITE


@strawberry.input(
    description="What somebody felt, by the questions of USGS's “Did You Feel It?”. Leave out what is not known."
)
class FeltInput:
    felt: float | None = optional("Whether it was felt, 0 … 1.")
    motion: float | None = optional("How strong the shaking was, 0 … 5.")
    reaction: float | None = optional("How frightened people were, 0 … 5.")
    stand: float | None = optional("Whether it was difficult to stand, 0 … 1.")
    shelf: float | None = optional("How many objects fell from shelves, 0 … 3.")
    picture: float | None = optional("Whether pictures on walls moved, 0 … 1.")
    furniture: float | None = optional("Whether furniture moved, 0 … 1.")
    damage: float | None = optional(
        "How much the building was damaged, 0 … 3: 0.5 for hairline cracks, 3 for collapse."
    )


@strawberry.input(description="What somebody feels or sees. It has an area, a position, or both.")
class ReportSightingInput:
    category: SightingCategory = shows("What it is about.")
    area: str | None = optional("The area's name or slug; by default that of the position.")
    lat: float | None = optional("Degrees north. It is rounded to a cell of 10 km before it is stored.")
    lon: float | None = optional("Degrees east, rounded likewise.")
    text: str | None = optional(f"Plain text of at most {LONGEST_TEXT} characters, without `<` and `>`.")
    questionnaire: FeltInput | None = optional(
        "What was felt. It needs a position, and is counted without the reporter's name."
    )
    event_id: strawberry.ID | None = optional(
        "The earthquake that it is about, if known: its global id, or any own id."
    )


@strawberry.input(description="The sighting that the caller has seen, too.")
class ConfirmSightingInput:
    id: strawberry.ID = shows("Its global id, or its own id.")


@strawberry.input(description="The sighting that has to go, and why.")
class HideSightingInput:
    id: strawberry.ID = shows("Its global id, or its own id.")
    reason: str = shows(f"Why, at most {LONGEST_REASON} characters. It is stored and logged.")


class ReportingMutations:
    @mutation(
        "Report what one feels or sees. What is reported already is confirmed instead.", scope=SIGHTINGS_WRITE, cost=10
    )
    async def report_sighting(self, info: Info, input: ReportSightingInput) -> model.ReportOutcome:
        report = Report(
            category=input.category,
            area=input.area,
            lat=input.lat,
            lon=input.lon,
            text=input.text,
            answers=None if input.questionnaire is None else checked(vars(input.questionnaire)),
            event_id=input.event_id and relay.key_of(Event, input.event_id, "eventId"),
        )
        return await info.context.service(Reporting).report(info.context.user, report)

    @mutation("Confirm a sighting, which makes it last longer and count more.", scope=SIGHTINGS_WRITE, cost=10)
    async def confirm_sighting(self, info: Info, input: ConfirmSightingInput) -> model.ReportOutcome:
        return await info.context.service(Confirming).confirm(info.context.user, relay.key_of(Sighting, input.id))

    @mutation("Hide a sighting for good.", scope=SIGHTINGS_MODERATE, cost=10)
    async def hide_sighting(self, info: Info, input: HideSightingInput) -> Deleted:
        key = relay.key_of(Sighting, input.id)
        return deleted(Sighting, await hide(info.context.service(Reporting), info.context.user, key, input.reason))
