"""graphql-eslint, Relay's compiler, GraphQL Code Generator, ariadne-codegen, sgqlc and gql find nothing wrong."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.acceptance.clients.documented.programs import blocks, run
from tests.acceptance.clients.judges.documents import lists, operations
from tests.documents.markdown import ROOT
from tests.service import Service

ESLINT_CONFIG = Path(__file__).with_name("eslint.config.mjs")
JAVASCRIPT, PYTHON = "docs/clients/javascript.md", "docs/clients/python.md"
TSC = "--noEmit --strict --skipLibCheck --verbatimModuleSyntax --module esnext --moduleResolution bundler"
ALIAS_OF_ID = re.compile(r"\bid: \w+Id\b")  # Zapier needs it, and Relay refuses it
VALIDATE = """
import sys
from gql import Client, gql
from gql.transport.httpx import HTTPXTransport

with Client(transport=HTTPXTransport(url=sys.argv[1]), fetch_schema_from_transport=True) as session:
    for text in open("operations.graphql").read().split("# next"):
        session.client.validate(gql(text))
"""

pytestmark = pytest.mark.judged
of_npm = pytest.mark.needs("npm", "Node 20")


@of_npm
def test_graphql_eslint_finds_only_what_its_configuration_excepts(project: Path) -> None:
    shutil.copy(ROOT / "schema.graphql", project)
    shutil.copy(ESLINT_CONFIG, project)

    run("node_modules/.bin/eslint", "schema.graphql", folder=project)


@pytest.mark.needs("Linux on x86-64")
@of_npm
def test_relay_compiles_each_operation_and_a_list_of_each_connection(project: Path, relay_compiler: Path) -> None:
    shutil.copy(ROOT / "schema.graphql", project)
    (project / "relay.config.json").write_text(blocks(JAVASCRIPT, "Relay", "json")[0])
    shown = {name: text for name, text in operations() if not ALIAS_OF_ID.search(text)}
    documents = {**shown, **dict(lists())}
    for name, text in documents.items():
        module = re.sub(r"(Query|Mutation|Subscription)$", "", name)
        (project / "src" / f"{module}.js").write_text(f'import {{ graphql }} from "relay-runtime";\ngraphql`{text}`;')

    run(relay_compiler, "relay.config.json", folder=project)

    made = {path.name for path in project.glob("src/__generated__/*")}
    assert made >= {f"{name}.graphql.js" for name in shown}
    assert made >= {f"{name}PaginationQuery.graphql.js" for name, _ in lists()}


@of_npm
def test_graphql_codegen_makes_types_of_each_operation_that_a_strict_compiler_takes(project: Path) -> None:
    """It reads the file here, and a service for the documents."""
    shutil.copy(ROOT / "schema.graphql", project)
    (configuration,) = blocks(JAVASCRIPT, "GraphQL Code Generator", "yaml")
    configuration = configuration.replace("http://127.0.0.1:8000/graphql", "schema.graphql")
    configuration = re.sub("documents: .*", "documents: src/*.graphql", configuration)
    _, output = configuration.split("generates:\n")
    whole = output.replace("src/gql/:", "src/schema.ts:").replace("preset: client", "plugins: [typescript]")
    (project / "codegen.yml").write_text(configuration + whole)
    (project / "src" / "all.graphql").write_text("\n".join(text for _, text in operations()))

    run("node_modules/.bin/graphql-codegen", "--config", "codegen.yml", folder=project)
    run("node_modules/.bin/tsc", *TSC.split(), "src/gql/index.ts", "src/schema.ts", folder=project)


def test_ariadne_codegen_makes_a_client_of_each_operation(
    tmp_path: Path, python_tools: dict[str, str], week: Service
) -> None:
    """It asks a service here, and reads the file for the documents."""
    (configuration,) = blocks(PYTHON, "ariadne-codegen", "toml")
    configuration = configuration.replace(
        'schema_path = "schema.graphql"', f'remote_schema_url = "{week.url}/graphql"'
    ).replace("async_client = false", "")  # for subscriptions
    (tmp_path / "pyproject.toml").write_text(configuration)
    (tmp_path / "queries.graphql").write_text("\n".join(text for _, text in operations()))

    run(sys.executable, "-m", "ariadne_codegen", folder=tmp_path, settings=python_tools)
    methods = "import quakes, json; print(json.dumps(dir(quakes.Client)))"
    done = run(sys.executable, "-c", methods, folder=tmp_path, settings=python_tools)

    assert {name.lower() for name, _ in operations()} <= {name.replace("_", "") for name in json.loads(done.stdout)}


def test_gql_finds_no_mistake_in_an_operation_by_the_schema_of_the_service(
    tmp_path: Path, gql: dict[str, str], week: Service
) -> None:
    (tmp_path / "operations.graphql").write_text("# next\n".join(text for _, text in operations()))

    run(sys.executable, "-c", VALIDATE, f"{week.url}/graphql", folder=tmp_path, settings=gql)
