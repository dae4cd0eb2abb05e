"""Field notes: what people saw where the ground shook. A whole domain, to be copied.

In a larger package each part is a module of its own: entities, model, access patterns, schema, commands.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import click
import strawberry
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from graph.api import notices, relay
from graph.api.connection_field import connection_field
from graph.api.context import Info, load_by
from graph.api.fields import field, subscription
from graph.api.record_type import record_type
from graph.api.times import time_field
from graph.command_line import CommandLine, store_option
from graph.core.days import datetime_of
from graph.core.paging import Page
from graph.domain import Domain, Resources, Scope, Services, SettingsPart, Task
from graph.feed.broadcast import Broadcast, FeedRecords
from graph.feed.sequence import ChangeSequence, SequenceEntities
from graph.observability.logs import get_logger
from graph.runtime.lease import LEASE_ATTRIBUTES, JobResult, Lease, LeaseItem, LeaseState
from graph.store.attributes import Real, Text, Whole
from graph.store.client_input import check_input, find
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity
from graph.store.ordering import Ordering, PageRequest
from graph.store.query import Partition, Query
from graph.store.records import EntityRecord, stored
from graph.transport.routes import route

logger = get_logger(__name__)

# Model: the records, and their attributes


class Note(EntityRecord):
    """A note as it was written. It never changes."""

    type_name = "FieldNote"
    note_id = stored("noteId", Text(longest=36, unit="UUID"))
    area = stored("area", Text(shortest=1, longest=64), "Where it was, in words.")
    written_at = stored("writtenAt", Whole(unit="epoch ms"), "When it was written, epoch milliseconds.")
    rating = stored("rating", Real(least=0, greatest=10), "How much its author felt, 0 to 10.")
    text = stored("text", Text(shortest=1, longest=2000), "What its author saw.")


# Entities: a table of its own, what stands in it, and the orders of its connections

BY_TIME = Index("ByTime", KeyAttribute("gsi1pk", "S"), KeyAttribute("gsi1sk", "N"))
BY_RATING = Index("ByRating", KeyAttribute("gsi2pk", "S"), KeyAttribute("gsi2sk", "N"))
TABLE = TableDesign("field-notes-{env}", indexes=(BY_TIME, BY_RATING))

NOTE = Entity(
    "NOTE",
    TABLE,
    Note,
    key=("NOTE#{noteId}", "NOTE"),
    indexes={BY_TIME: ("YEAR#{year}", "{writtenAt}"), BY_RATING: ("AREA#{area}", "{rating}")},
    attributes=(Text("year", longest=4, unit="YYYY, UTC"), Whole("change", unit="sequence number")),
)
CHANGES = SequenceEntities.of(TABLE, "CHANGES", "CHANGE", keys="noteIds", number="change")
COUNT = Entity("COUNT", TABLE, key=("COUNT", "STATE"), attributes=(*LEASE_ATTRIBUTES, Whole("notes"), Whole("round")))

FIRST_YEAR = 2020  # before it, nobody wrote a note
RECENT = Ordering("notes", NOTE, BY_TIME, descending=True)
BEST = Ordering("bestnotes", NOTE, BY_RATING, descending=True)


# Access patterns: what is asked of the store


class NoteSettings(SettingsPart):
    """How notes are counted."""

    field_note_count: float = Field(60, gt=0, le=86_400, description="Seconds between counts of all field notes.")


class FieldNotes:
    """The stored notes."""

    def __init__(self, resources: Resources) -> None:
        self._database, self._clock = resources.database, resources.clock
        self._written = resources.metrics.counter("field_notes", "Field notes that were written.")
        self.sequence = ChangeSequence(resources.database, CHANGES)

    async def write(self, area: str, rating: float, text: str) -> Note:
        """Store a note; BadUserInput where it breaks a rule."""
        check_input(NOTE, area=area, rating=rating, text=text)
        note_id, now = str(uuid4()), self._clock()
        item = {"noteId": note_id, "area": area, "writtenAt": now, "rating": rating, "text": text}
        item["year"] = str(datetime_of(now).year)
        await self.sequence.store(NOTE, {note_id: item})
        self._written.inc()
        return Note(item)

    async def by_id(self, ids: Sequence[str], attributes: frozenset[str] | None = None) -> dict[str, Note]:
        """Those of the notes that exist."""
        return await find(self._database, Note, ids, attributes)

    async def recent(self, page: PageRequest) -> Page[Note]:
        """A page of all notes, latest first."""
        return await RECENT.page(self._database, page, self._years(), Note)

    async def best(self, area: str, page: PageRequest) -> Page[Note]:
        """A page of an area's notes, best rated first."""
        return await BEST.page(self._database, page, [(area,)], Note)

    async def count(self) -> int:
        """How many notes there are."""
        return await self._database.count(Query(entity=NOTE, index=BY_TIME, partitions=self._years()))

    def _years(self) -> list[Partition]:
        return [(str(year),) for year in range(FIRST_YEAR, datetime_of(self._clock()).year + 1)]


class NoteBroadcast(Broadcast[Note]):
    """Notes as they are written, by whichever process."""


# The graph: types that describe the records, and resolvers that translate and ask

NOTES_WRITE, NOTES_EXPORT = Scope("notes:write"), Scope("notes:export")
Area = Annotated[str, "Where, in words, at most 64 characters."]
Input = Annotated["WriteFieldNoteInput", "The note."]


@record_type(
    Note, "What somebody saw where the ground shook.", load=load_by(FieldNotes, FieldNotes.by_id), pages="field notes"
)
class FieldNote(relay.Node):
    written_at: datetime = time_field("written_at", "When it was written.", "writtenAt")


@strawberry.input(description="A field note as its author gives it.")
class WriteFieldNoteInput:
    area: str = strawberry.field(description="Where it was, at most 64 characters.")
    rating: float = strawberry.field(description="How much its author felt, 0 to 10.")
    text: str = strawberry.field(description="What its author saw.")


@strawberry.type(description="The note that was written.")
class WriteFieldNotePayload:
    note: FieldNote = strawberry.field(description="The note.", resolver=relay.itself)


class FieldNoteQueries:
    @connection_field("Field notes, latest first.", RECENT)
    async def field_notes(self, info: Info, page: PageRequest) -> Page[Note]:
        return await info.context.service(FieldNotes).recent(page)

    @connection_field("Field notes of an area, best rated first.", BEST)
    async def best_field_notes(self, info: Info, area: Area, page: PageRequest) -> Page[Note]:
        return await info.context.service(FieldNotes).best(area, page)


class FieldNoteMutations:
    @field("Write a field note.", of=WriteFieldNotePayload, scope=NOTES_WRITE)
    async def write_field_note(self, info: Info, input: Input) -> Note:
        return await info.context.service(FieldNotes).write(**vars(input))


class FieldNoteSubscriptions:
    @subscription("Each field note that is written from now on, or behind another one.", notices.Notice[FieldNote])
    async def field_notes(self, info: Info, after: notices.After = None) -> Any:
        return await info.context.service(NoteBroadcast).subscribe(lambda note: True, after, info.context.charge_replay)


# Beside the graph: a route, a background task, a command, and all of it in one value


async def export(request: Request, services: Services) -> Response:
    """The best notes of an area as JSON."""
    page = await services.of(FieldNotes).best(request.path_params["area"], PageRequest.of_first(100))
    return JSONResponse([{"rating": note.rating, "text": note.text} for note in page.records])


async def count_forever(services: Services) -> None:
    """Count all notes whenever that is due and no other process does it."""
    resources, notes = services.of(Resources), services.of(FieldNotes)
    every_ms = round(1000 * resources.settings.part(NoteSettings).field_note_count)

    async def count(state: LeaseState, now: int) -> JobResult:
        counted = {"notes": await notes.count(), "round": state.attributes.get("round", 0) + 1}
        logger.info("Counted field notes", **counted)
        return JobResult(now + every_ms, counted)

    await Lease(resources.database, LeaseItem(COUNT.key_for()), resources.clock, lasts_ms=5000).run_forever(count)


@click.command("count-field-notes")
@store_option
@click.pass_obj
def count_field_notes(line: CommandLine, store: str | None) -> None:
    """Tell how many field notes there are."""
    click.echo(line.run(line.settings(store=store), lambda services: services.of(FieldNotes).count()))


async def open_services(resources: Resources) -> Sequence[object]:
    """Open what resolvers, tasks and commands ask for."""
    notes = FieldNotes(resources)
    feed = NoteBroadcast(notes.sequence, FeedRecords.of(RECENT, notes.by_id))
    broadcast = await resources.closing.enter_async_context(feed)
    resources.endings.add(broadcast.end)
    return notes, broadcast


async def readiness(services: Services) -> Mapping[str, Any]:
    """How many notes were ever written."""
    return {"fieldNotes": {"written": await services.of(FieldNotes).sequence.latest()}}


DOMAIN = Domain(
    name="field_notes",
    entities=(NOTE, CHANGES.change, CHANGES.latest, COUNT),
    scopes=(NOTES_WRITE, NOTES_EXPORT),
    settings=NoteSettings,
    open=open_services,
    queries=(FieldNoteQueries,),
    mutations=(FieldNoteMutations,),
    subscriptions=(FieldNoteSubscriptions,),
    nodes=(FieldNote,),
    routes=lambda settings: [route("/field-notes/{area}", export, scope=NOTES_EXPORT)],
    tasks=(Task("counting field notes", count_forever),),
    commands=(count_field_notes,),
    examples=Path(__file__).parent / "examples",
    readiness=readiness,
)
