"""Plug-ins are found by their entry points, and one that is broken or contradicts another domain is named."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from graph import cli
from graph.domain import ORIGIN, switched_on
from graph.domains import DOMAINS, installed
from tests.domain.plugins import EXAMPLE, on_the_path, write_example_metadata, write_metadata
from tests.processes import SETTINGS, TIMEOUT_S, serving
from tests.schemas import printed

Install = Callable[..., None]

IMPORTS = """
import click, strawberry
from dataclasses import replace
from graph.domain import Contribution, Domain, Scope, SettingsPart
from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.schema.events import Event
from graph.store.attributes import Text
from graph.store.entity import Entity
from graph.transport.routes import route

async def answer(request, services): ...

async def open_services(resources): resources.metrics.counter("field_notes", "")
"""
FIELD = "@strawberry.type\nclass Given:\n    @strawberry.field\n    def {}(self) -> int: ...\n"
THING = 'EVENT = Entity({}, {}, key=({}, "EVENT"), attributes=(Text("id", shortest=1, longest=9),))\n'

HOST = f"'earthquakes' of {ORIGIN}"
BROKEN: dict[str, tuple[str, str]] = {
    "a module": ("import volcanology\n", "cannot be imported: ModuleNotFoundError: No module named 'volcanology' ("),
    "an attribute": (
        "OTHER = 7\n",
        "cannot be imported: AttributeError: module 'made_up' has no attribute 'DOMAIN'; `",
    ),
    "an exit": ("raise SystemExit('No.')\n", "cannot be imported: SystemExit: No. ("),
    "a value": ("DOMAIN = 7\n", "is made_up:DOMAIN, which is no `graph.domain.Domain`; `"),
    "a name": ("name='volcanoes'", "calls itself 'volcanoes': its entry point must have the same name; `"),
}
"""What is wrong → a module, and the beginning of what is said of it."""

CONTRADICTIONS: dict[str, tuple[str, str]] = {
    "a requirement": ("requires=('volcanoes',)", "requires the domain 'volcanoes', which is not installed"),
    "a host": ("part_of='volcanoes'", "requires the domain 'volcanoes', which is not installed"),
    "a circle": ("requires=('made_up',)", "requires itself: made_up → made_up"),
    "our setting": (
        "settings=Given\nclass Given(SettingsPart):\n    port: int = 1\n",
        "declares the setting GRAPH_PORT, as the service does",
    ),
    "a setting": (
        "settings=Given\nclass Given(SettingsPart):\n    poll: int = 1\n",
        f"declares the setting GRAPH_POLL, as {HOST} does",
    ),
    "a scope": ("scopes=(Scope('events:read'),)", f"declares the scope events:read, as {HOST} does"),
    "our command": ("commands=(click.Command('serve'),)", "declares the command serve, as the service does"),
    "a command": ("commands=(click.Command('ingest'),)", f"declares the command ingest, as {HOST} does"),
    "an entity": (
        "entities=(EVENT,)\n" + THING.format("'EVENT'", "EARTHQUAKE_EVENTS", "'MADE#{id}'"),
        f"declares the entity EVENT of earthquake-events, as {HOST} does",
    ),
    "a key": (
        "entities=(EVENT,)\n" + THING.format("'MADE'", "EARTHQUAKE_EVENTS", "'EVENT#{id}'"),
        f"has MADE of earthquake-events, which could have the same key as EVENT of {HOST}",
    ),
    "a table": (
        "entities=(EVENT,)\n" + THING.format("'MADE'", "replace(EARTHQUAKE_EVENTS, ttl='end')", "'MADE#{id}'"),
        f"designs the table earthquake-events otherwise than {HOST}",
    ),
    "a root field": (
        "queries=(Given,)\n" + FIELD.format("events"),
        "does not fit into the schema: ImproperSchema: earthquakes and made_up define Query.events: "
        "keep it in one of them",
    ),
    "our root field": (
        "queries=(Given,)\n" + FIELD.format("node"),
        "does not fit into the schema: ImproperSchema: the service and made_up define Query.node: "
        "keep it in one of them",
    ),
    "a contribution": (
        "contributions=(Contribution(Event, Given),)\n" + FIELD.format("place"),
        "does not fit into the schema: ImproperSchema: Event and made_up define Event.place: keep it in one of them",
    ),
    "a type": (
        "queries=(Given,)\n@strawberry.type\nclass Event:\n    mag: int\n"
        + FIELD.format("quakes").replace("int", "Event"),
        "does not fit into the schema: ImproperSchema: Type Event is defined multiple times in the schema, in made_up "
        "and graph.domains.earthquakes.schema.events: rename one",
    ),
    "our route": ("routes=lambda _: [route('/metrics', answer)]", "declares the route /metrics, as the service does"),
    "a route": ("routes=lambda _: [route('/', answer)]", f"declares the route /, as 'dashboard' of {ORIGIN} does"),
    "a metric": (
        "open=open_services",
        "cannot be opened: ValueError: the metric quakegraph_field_notes is one of 'field_notes' of "
        "quakegraph-field-notes 1.0",
    ),
}
"""What exists twice, or not at all → what a domain gives, with the types that it needs, and what is said of it."""


def module(given: str, name: str) -> str:
    """A module with a domain that gives this."""
    arguments, _, types = given.partition("\n")
    if given.endswith("\n") and not types:
        return given
    return f"{IMPORTS}{types}DOMAIN = Domain(**dict(dict(name={name!r}), {arguments}))\n"


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Install]:
    """Installs distributions of one module each, and the example."""
    with ExitStack() as stack:

        def install(**domains: str) -> None:
            for name, given in domains.items():
                write_metadata(tmp_path, f"dist-{name}".replace("_", "-"), {name: f"{name}:DOMAIN"})
                (tmp_path / f"{name}.py").write_text(module(given, name))
            write_example_metadata(tmp_path)
            stack.enter_context(on_the_path(tmp_path, EXAMPLE))

        yield install


def command(*arguments: str, **variables: str) -> Result:
    return CliRunner().invoke(cli.build(), arguments, env={**SETTINGS, **variables}, catch_exceptions=False)


def rows(result: Result) -> list[str]:
    return [" ".join(line.split()) for line in result.stdout.splitlines()]


# What is installed


def test_plug_ins_are_listed_with_their_distribution_and_come_after_what_they_require(install: Install) -> None:
    install(a_part="requires=('field_notes',), part_of='earthquakes'")

    for names, states in (
        ("", ("on", "on", "on")),
        ("earthquakes,field_notes", ("on", "off", "on")),
        ("-field_notes,-a_part", ("on", "on", "off")),
    ):
        listed = command("domains", GRAPH_DOMAINS=names)
        assert (listed.exit_code, listed.stderr) == (0, "")
        assert rows(listed)[:2] == ["domain state part of distribution", f"earthquakes {states[0]} - {ORIGIN}"]
        assert f"sightings {states[1]} - {ORIGIN}" in rows(listed)
        part = "off" if "-a_part" in names else "on"
        assert rows(listed)[-2:] == [
            f"a_part {part} earthquakes dist-a-part 1.0",
            f"field_notes {states[2]} - quakegraph-field-notes 1.0",
        ]
    described = command("domains", "field_notes", GRAPH_DOMAINS="-field_notes").stdout
    for line in (
        "| `GRAPH_FIELD_NOTE_COUNT` | | `60` | Seconds between counts of all field notes. |",
        "| `notes:write` |",
        "| attribute of NOTE in `field-notes-{env}` | type |",
        "| `gsi2pk` | key, `AREA#{area}` |",
        "| `rating` | number from 0 to 10 |",
    ):
        assert line in described.splitlines()
    assert "there is no domain 'volcanoes'; these are: earthquakes, " in command("domains", "volcanoes").stderr
    on = switched_on(installed(), ())
    assert [domain.name for domain in on][len(DOMAINS) :] == ["field_notes", "a_part"]
    assert installed() is installed()


# What cannot be served


@pytest.mark.parametrize("what", BROKEN | CONTRADICTIONS)
def test_a_plug_in_that_cannot_be_served_ends_the_start_with_a_sentence_unless_it_is_left_out(
    what: str, install: Install, folder: Path
) -> None:
    given, fault = (BROKEN | CONTRADICTIONS)[what]
    install(made_up=given)
    start = command("serve", "--host", "192.0.2.1")  # no address of this machine

    assert (start.exit_code, start.stdout, start.stderr.count("\n")) == (2, "", 1)
    assert start.stderr.startswith(f"Error: dist-made-up 1.0: the domain 'made_up' {fault}")
    assert start.stderr.endswith("; `-made_up` in GRAPH_DOMAINS leaves it out\n")
    if "route" not in what and "metric" not in what:  # which show when the service is made
        listed = command("domains")
        assert (listed.exit_code, listed.stderr) == (2, start.stderr)
        host = "volcanoes" if what == "a host" else "-"
        assert f"made_up {'broken' if what in BROKEN else 'on'} {host} dist-made-up 1.0" in rows(listed)
        for arguments in (("schema",), ("token", "--help"), ("--version",)):
            assert (command(*arguments).exit_code, command(*arguments).stderr) == (2, start.stderr)
    for names in ("-made_up,-field_notes", ",".join(domain.name for domain in DOMAINS if not domain.part_of)):
        left_out = command("schema", GRAPH_DOMAINS=names)
        assert (left_out.exit_code, left_out.stdout) == (0, printed())


def test_two_domains_of_one_name_and_a_circle_of_two_name_the_distribution(install: Install) -> None:
    install(sightings="scopes=()", one="requires=('two',)", two="requires=('one',)")

    taken = command("schema", GRAPH_DOMAINS="-one,-two").stderr
    owner = f"'sightings' of {ORIGIN}"
    assert f"dist-sightings 1.0: the domain 'sightings' declares the name sightings, as {owner} does; " in taken
    circle = command("schema", GRAPH_DOMAINS="-sightings").stderr
    assert "dist-one 1.0: the domain 'one' requires itself: one → two → one; " in circle
    assert command("schema", GRAPH_DOMAINS="earthquakes").exit_code == 0


# Real processes


def test_each_process_of_a_service_has_the_plug_ins(tmp_path: Path) -> None:
    write_example_metadata(tmp_path)
    path = {"PYTHONPATH": f"{tmp_path}:{EXAMPLE}:{Path.cwd()}"}
    with serving("--workers", "2", folder=tmp_path, settings=path) as server:
        for _ in range(8):  # each over a new connection
            answer = server.ask("{ fieldNotes { nodes { text } } }")
            assert answer.json() == {"data": {"fieldNotes": {"nodes": []}}}
        ready = httpx.get(server.url.replace("/graphql", "/readyz"), timeout=TIMEOUT_S).json()
    assert ready["fieldNotes"] == {"written": 0}
