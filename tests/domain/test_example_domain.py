"""The example domain as a plug-in of the real service, on each engine: every part of it is used."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result

from graph import cli
from graph.access.callers import Scope
from graph.domain import entities_of
from graph.domains import DOMAINS, installed
from graph.opening import open_services, settings_of
from graph.settings import Settings as CoreSettings
from tests.bearers import bearer
from tests.documents.markdown import document
from tests.domain.plugins import EXAMPLE, PACKAGE
from tests.observability.scraping import scraped
from tests.processes import SETTINGS
from tests.service import Service, running
from tests.store.engines import make_tables
from tests.store.samples import HeldClock
from tests.subscribers import event_stream, eventually

pytestmark = pytest.mark.usefixtures("field_notes")

NOTES_WRITE, NOTES_EXPORT = Scope("notes:write"), Scope("notes:export")
YEAR_MS = 366 * 86_400_000

WRITE = "mutation ($input: WriteFieldNoteInput!) { writeFieldNote(input: $input) { note { id area rating text } } }"
PAGE = "edges { node { text } } pageInfo { endCursor }"
NOTES = f"query ($first: Int, $after: String) {{ page: fieldNotes(first: $first, after: $after) {{ {PAGE} }} }}"
BEST = f"""query ($area: String!, $first: Int, $after: String) {{
  page: bestFieldNotes(area: $area, first: $first, after: $after) {{ {PAGE} }}
}}"""


@pytest.fixture
def store(engine: str, field_notes: ModuleType, tmp_path: Path) -> str:
    """The URL of an empty store with the tables of all domains."""
    if engine == "sqlite":
        return f"sqlite:///{tmp_path}/notes.db"
    return f"dynamodb://{make_tables(entities_of(installed()), stream=True)}"


def settings(store: str, **others: Any) -> CoreSettings:
    return settings_of(installed())(store=store, **others)


on_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@pytest.fixture
def service(store: str, clock: HeldClock) -> Iterator[Service]:
    with running(settings(store), domains=installed(), clock=clock) as service:
        yield service


def write(service: Service, text: str, *, area: str = "Napa", rating: float = 5.0) -> dict[str, Any]:
    """The note that was written."""
    written = service.ask(WRITE, {"input": {"area": area, "rating": rating, "text": text}})
    note: dict[str, Any] = written["writeFieldNote"]["note"]
    return note


# The graph


def texts(service: Service, query: str, **variables: Any) -> list[str]:
    """The texts of a page, in the connection's order."""
    return [edge["node"]["text"] for edge in service.ask(query, variables)["page"]["edges"]]


def test_notes_come_in_order_of_time_and_of_rating(service: Service, clock: HeldClock) -> None:
    """Over the end of a year, an empty year, and an area. `tests.contracts` follows the pages of such connections."""
    for text, later_ms, rating in (("dull", 0, 0.5), ("wild", YEAR_MS, 9.25), ("calm", 2 * YEAR_MS, 0.0)):
        clock.now += later_ms
        write(service, text, rating=rating)
    clock.now += 1
    write(service, "elsewhere", area="Ridgecrest")

    assert texts(service, NOTES) == ["elsewhere", "calm", "wild", "dull"]
    assert texts(service, BEST, area="Napa") == ["wild", "dull", "calm"]
    for query, of in ((NOTES, {}), (BEST, {"area": "Napa"})):
        whole = texts(service, query, **of)
        after = service.ask(query, {"first": 2, **of})["page"]["pageInfo"]["endCursor"]
        assert texts(service, query, after=after, **of) == whole[2:]
    assert texts(service, BEST, area="Ridgecrest") == ["elsewhere"]


@on_sqlite
def test_a_note_is_written_with_the_scope_and_by_the_rules_of_its_entity_and_is_a_node(service: Service) -> None:
    for given in ({"rating": 10.5}, {"rating": -1}, {"text": "a" * 2001}, {"text": ""}, {"area": "a" * 65}):
        note = {"area": "Napa", "rating": 5, "text": "a", **given}
        assert service.codes(WRITE, {"input": note}) == ["BAD_USER_INPUT"]
    assert service.codes(BEST, {"area": "a" * 65}) == ["BAD_USER_INPUT"]
    body = {"query": WRITE, "variables": {"input": {"area": "Napa", "rating": 5, "text": "a"}}}
    for headers, code in ((bearer(NOTES_EXPORT), "FORBIDDEN"), ({"Authorization": ""}, "UNAUTHENTICATED")):
        answer = service.http.post("/graphql", json=body, headers=headers).json()
        assert [error["extensions"]["code"] for error in answer["errors"]] == [code]
    assert service.ask(NOTES)["page"]["edges"] == []
    written = service.http.post("/graphql", json=body, headers=bearer(NOTES_WRITE)).json()["data"]
    node = "query ($id: ID!) { node(id: $id) { __typename ... on FieldNote { area text writtenAt } } }"
    found = service.ask(node, {"id": written["writeFieldNote"]["note"]["id"]})["node"]
    assert found == {"__typename": "FieldNote", "area": "Napa", "text": "a", "writtenAt": "2023-11-14T22:13:20.000Z"}


async def test_no_note_of_a_batch_is_stored_if_one_exists(store: str, field_notes: ModuleType) -> None:
    async with open_services(settings(store), installed()) as services:
        notes = services.of(field_notes.FieldNotes)
        note = await notes.write("Napa", 5, "a")
        new = {**note.item, "noteId": "new"}

        assert await notes.sequence.store(field_notes.NOTE, {"new": new, note.note_id: note.item}) == {note.note_id}
        assert (await notes.count(), await notes.sequence.latest()) == (1, 1)
        assert await notes.sequence.store(field_notes.NOTE, {"new": new}) == frozenset()
        assert (await notes.count(), await notes.sequence.latest()) == (2, 2)


async def test_a_subscriber_gets_what_is_written_and_what_was_missed(store: str) -> None:
    query = "subscription ($after: String) { fieldNotes(after: $after) { node { text } cursor dropped } }"
    with running(settings(store), domains=installed()) as service:
        await asyncio.to_thread(write, service, "a")
        cursor = (await asyncio.to_thread(service.ask, NOTES))["page"]["pageInfo"]["endCursor"]
        await asyncio.to_thread(write, service, "b")
        async with event_stream(service.url, query, variables={"after": cursor}) as stream:
            assert await stream.block() == b":"
            missed = (await stream.next_data())["fieldNotes"]
            await asyncio.to_thread(write, service, "c")
            live = (await stream.next_data())["fieldNotes"]

    assert [(each["node"], each["dropped"]) for each in (missed, live)] == [({"text": "b"}, 0), ({"text": "c"}, 0)]


# Beside the graph


@on_sqlite
def test_a_domain_has_a_metric_a_route_for_those_with_its_scope_and_an_example(service: Service) -> None:
    assert scraped(service.url).value("quakegraph_field_notes_total") == 0
    write(service, "a", area="San José")
    assert scraped(service.url).value("quakegraph_field_notes_total") == 1
    assert service.http.get("/readyz").json()["fieldNotes"] == {"written": 1}

    notes = service.http.get("/field-notes/San José", headers=bearer(NOTES_EXPORT)).json()
    assert notes == [{"rating": 5.0, "text": "a"}]
    for headers, status, code in (
        (bearer(NOTES_WRITE), 403, "FORBIDDEN"),
        ({"Authorization": ""}, 401, "UNAUTHENTICATED"),
        ({"Authorization": "Bearer x"}, 401, "UNAUTHENTICATED"),
    ):
        answer = service.http.get("/field-notes/Napa", headers=headers)
        assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (status, code)
    assert service.http.post("/field-notes/Napa").status_code == 405
    assert "query FieldNotes" in service.http.get("/graphql", headers={"Accept": "text/html"}).text


def command(*arguments: str, **variables: str) -> Result:
    """What a command of this service does."""
    return CliRunner().invoke(cli.build(), arguments, env={**SETTINGS, **variables})


@on_sqlite
def test_a_command_counts_and_obeys_the_environment(store: str) -> None:
    with running(settings(store), domains=installed()) as service:
        for text in ("a", "b", "c"):
            write(service, text)

    assert command("count-field-notes", "--store", store).stdout == "3\n"
    wrong = command("count-field-notes", "--store", store, GRAPH_FIELD_NOTE_COUNT="0")
    assert (wrong.exit_code, wrong.stderr) == (2, "Error: GRAPH_FIELD_NOTE_COUNT: Input should be greater than 0\n")


@on_sqlite
def test_a_domain_that_is_off_adds_nothing(store: str) -> None:
    """A command says as much of one that is on."""
    off = {"GRAPH_DOMAINS": "-field_notes"}
    with running(settings_of(DOMAINS)(store=store, domains=("-field_notes",)), domains=installed()) as service:
        assert service.codes("{ fieldNotes { nodes { id } } }") == ["GRAPHQL_VALIDATION_FAILED"]
        assert service.http.get("/field-notes/Napa").status_code == 404
        assert "field_notes" not in scraped(service.url).text
        assert "FieldNotes" not in service.http.get("/graphql", headers={"Accept": "text/html"}).text
    assert command("count-field-notes", **off).exit_code == 2
    wrong = command("serve", GRAPH_DOMAINS="earthquakes,volcanoes")
    assert (wrong.exit_code, wrong.stderr[:53]) == (2, "Error: GRAPH_DOMAINS: there is no domain 'volcanoes';")
    for words, text in (
        (("schema",), "FieldNote"),
        (("tables", "template"), "field-notes"),
        (("tables", "policy"), "table/field-notes-dev/index/ByRating"),
        (("token", "--help"), NOTES_WRITE),
    ):
        assert text in command(*words).stdout
        assert text not in command(*words, **off).stdout


# The task under a lease


async def test_one_of_two_services_makes_each_count(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", PACKAGE)
    quick = settings(f"sqlite:///{tmp_path}/notes.db", field_note_count=0.05)

    def rounds() -> list[int]:
        """The counts that were made, by their number."""
        records = [vars(each) for each in caplog.records if each.getMessage() == "Counted field notes"]
        return [each["keywords"]["round"] for each in records]

    with running(quick, domains=installed()), running(quick, domains=installed()):
        await eventually(lambda: len(rounds()) >= 6)
        made = rounds()
    assert made == list(range(1, len(made) + 1))


# Its walk-through


def test_the_page_quotes_the_example() -> None:
    files = [path.read_text() for path in EXAMPLE.rglob("*") if path.suffix in (".py", ".toml")]
    quoted = [each.text for each in document("docs/adding-a-domain.md").blocks if each.language in ("python", "toml")]

    assert len(quoted) > 10
    assert [
        text for text in quoted if not any(each in file for each in (text, indent(text, "    ")) for file in files)
    ] == []
