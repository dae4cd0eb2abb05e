"""Apollo Client, Relay, urql and GraphQL Code Generator run the programs of docs/clients/javascript.md."""

import json
import shutil
from pathlib import Path

import pytest

from tests.acceptance.clients.documented.programs import at, blocks, lines, run
from tests.documents.markdown import ROOT
from tests.service import Service

pytestmark = [pytest.mark.judged, pytest.mark.needs("npm", "Node 20")]

PAGE = "docs/clients/javascript.md"
SELECTED = "edges { node { id eventId mag"


def program(heading: str, service: Service) -> str:
    """The first program below a heading."""
    return at(service.url, blocks(PAGE, heading, "js")[0])


def printed_by(text: str, project: Path) -> list[str]:
    """What a program of Node prints. It warns of nothing."""
    (project / "program.js").write_text(text)
    done = run("node", "program.js", folder=project)
    assert done.stderr == ""
    return list(lines(done.stdout))


@pytest.mark.parametrize("heading", ["Apollo Client", "urql"])
def test_the_program_prints_what_is_below_it(heading: str, project: Path, week: Service) -> None:
    (output,) = blocks(PAGE, heading, "text")

    assert printed_by(program(heading, week), project) == lines(output)


@pytest.mark.parametrize(
    ("selection", "edges"),
    [(SELECTED, ["us6000kxp7", "us6000kxnn", "us6000kxmt", "us6000kxn3"]), (f"# {SELECTED}", [])],
    ids=["beside edges", "alone"],
)
def test_apollo_keeps_the_nodes_of_the_last_page_only(
    selection: str, edges: list[str], project: Path, week: Service
) -> None:
    text = program("Apollo Client", week).replace(SELECTED, f"nodes {{ id eventId mag }}\n{selection}")
    ids = "[events.edges?.map(({ node }) => node.eventId) ?? [], events.nodes.map(({ eventId }) => eventId)]"

    (line,) = printed_by(f"{text.partition('for (const')[0]}\nconsole.log(JSON.stringify({ids}));", project)

    assert json.loads(line) == [edges, ["us6000kxmt", "us6000kxn3"]]


def test_apollo_sends_no_query_for_a_further_page(project: Path, week: Service) -> None:
    text = program("Apollo Client", week).replace("strongEvents.fetchMore({", "client.query({ query: STRONG_EVENTS,")

    assert printed_by(text, project)[:-1] == ["us6000kxp7 5.5", "us6000kxnn 5.1"]


def test_urql_merges_nodes_too(project: Path, week: Service) -> None:
    text = program("urql", week).partition("for (const")[0].replace(SELECTED, f"nodes {{ id eventId }}\n{SELECTED}")

    printed = printed_by(f"{text}\nfor (const {{ eventId }} of data.events.nodes) console.log(eventId);", project)

    assert printed == ["us6000kxp7", "us6000kxnn", "us6000kxmt", "us6000kxn3"]


def test_urql_warns_of_a_type_without_a_key(project: Path, week: Service) -> None:
    (project / "program.js").write_text(program("urql", week).replace(", EventAlias: embedded", ""))

    warned = run("node", "program.js", folder=project).stderr

    assert "no key could be generated" in warned
    assert "EventAlias" in warned


@pytest.mark.needs("Linux on x86-64")
def test_relay_compiles_the_documents_and_runs_the_program(project: Path, relay_compiler: Path, week: Service) -> None:
    text, paginated = blocks(PAGE, "Relay", "js")
    (output,) = blocks(PAGE, "Relay", "text")
    (project / "src" / "Events.js").write_text(paginated)

    assert printed_by_relay(at(week.url, text), project, relay_compiler) == lines(output)

    made = {path.name for path in (project / "src" / "__generated__").iterdir()}
    assert {"Events_query.graphql.js", "EventsPaginationQuery.graphql.js"} <= made


@pytest.mark.needs("Linux on x86-64")
def test_relay_keeps_the_nodes_of_the_last_page_only(project: Path, relay_compiler: Path, week: Service) -> None:
    text = program("Relay", week).replace(SELECTED, f"nodes {{ eventId }}\n{SELECTED}").partition("for (const")[0]

    printed = printed_by_relay(
        f"{text}\nfor (const {{ eventId }} of events.nodes) console.log(eventId);", project, relay_compiler
    )

    assert printed == ["us6000kxmt", "us6000kxn3"]


def printed_by_relay(text: str, project: Path, relay_compiler: Path) -> list[str]:
    """What a program prints after Relay's compiler and its plug-in of Babel."""
    (configuration,) = blocks(PAGE, "Relay", "json")
    (project / "relay.config.json").write_text(configuration)
    shutil.copy(ROOT / "schema.graphql", project)
    (project / "src" / "strongEvents.js").write_text(text)
    run(relay_compiler, "relay.config.json", folder=project)
    shutil.copy(Path(__file__).with_name("relay.cjs"), project)
    run("node", "relay.cjs", "src/strongEvents.js", "src/built.js", folder=project)
    return list(lines(run("node", "src/built.js", folder=project).stdout))


def test_graphql_codegen_knows_every_scalar_and_its_types_fit(project: Path, week: Service) -> None:
    (configuration,) = blocks(PAGE, "GraphQL Code Generator", "yaml")
    (text,) = blocks(PAGE, "GraphQL Code Generator", "ts")
    (output,) = blocks(PAGE, "GraphQL Code Generator", "text")
    (project / "package.json").write_text("{}")
    (project / "codegen.yml").write_text(at(week.url, configuration))
    (project / "src" / "latest.ts").write_text(at(week.url, text))

    run("node_modules/.bin/graphql-codegen", "--config", "codegen.yml", folder=project)
    options = ("--strict", "--skipLibCheck", "--target", "es2022", "--module", "commonjs", "--outDir", "out")
    run("node_modules/.bin/tsc", *options, "src/latest.ts", folder=project)

    assert run("node", "out/latest.js", folder=project).stdout == output
