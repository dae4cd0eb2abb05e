"""Tests that each command of a document is possible: it exists and takes its options. Quick commands are executed.

Each query of a document is, too, in order on the demo's week. The answer is compared with the one below it.
"""

import argparse
import importlib.util
import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import httpx
import pytest
from graphql import OperationDefinitionNode, OperationType, parse, validate

from graph.cli import main
from tests.bearers import bearer
from tests.documents.markdown import DOCUMENTS, ROOT, Block, Document
from tests.documents.shell import Command, commands
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.service_logs.lines import KEPT, a_line, a_record, a_request, ndjson
from tests.processes import quakegraph
from tests.schemas import schema
from tests.service import Service, running, settings
from tests.settings import Settings
from tests.store.samples import HeldClock
from tests.subscribers import event_stream, live_service

HERE = "http://127.0.0.1:8000"  # the service, as documents name it
SAMPLE = next((ROOT / "graph").rglob("usgs_all_week_*.geojson.gz")).read_bytes()
FILES = {  # which a reader has; gzipped or not is seen by its content
    "all_week.geojson": SAMPLE,
    "catalogue.ndjson.gz": SAMPLE,
    "payloads/kept": b"",
    "checkout.ndjson": ndjson(a_line("Paid"), a_line("Refused", level="error")),
    "collector.json": ndjson(a_request(a_record("Sent"))),
    "archive/LIBERA_L1B_RAD-4CH_V1-0-0_20240101T000000_20240101T235959_R24003010000.nc": b"radiances",
}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
STEPS = (ROOT / "scripts" / "check").read_text().split("\nall=(")[1].split(")")[0].split()
CLIENTS = ROOT / "tests" / "acceptance" / "clients" / "documented"
DEVELOPMENT = (ROOT / "requirements-dev.lock").read_text()
CODEGEN, NPM = ((CLIENTS / name).read_text() for name in ("codegen.lock", "package.json"))
DOCKERFILE = (ROOT / "Dockerfile").read_text()


CURL = argparse.ArgumentParser(exit_on_error=False)
CURL.add_argument("url")
CURL.add_argument("-H", dest="headers", action="append", default=[])
CURL.add_argument("-d", dest="body")
CURL.add_argument("-G", dest="as_query", action="store_true")
CURL.add_argument("-N", dest="unbuffered", action="store_true")
CURL.add_argument("--data-urlencode", dest="parameters", action="append", default=[])


def scripts(document: Document) -> Iterator[Block]:
    """Its shell blocks."""
    return (block for block in document.blocks if block.language in ("sh", "bash", "console"))


WITH_SCRIPTS = {document.name: document for document in DOCUMENTS if any(scripts(document))}
COMMAND = re.compile(r"(quakegraph|python -m|docker|pip|\.venv/bin/\w+|scripts/[\w-]+|\.ci/run)( |$)")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the files that commands read."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("name", WITH_SCRIPTS)
def test_the_commands_of_a_block_do_what_they_say(name: str, folder: Path, own_week: Service, usgs: UsgsServer) -> None:
    for script in scripts(WITH_SCRIPTS[name]):
        for command in commands(script.text):
            assert set(command.settings) <= {"TOKEN"} or all(map(is_a_variable, command.settings.items()))
            if command.words:
                check(command, folder)
                if not script.test:
                    execute(command, folder, own_week, usgs)


def test_a_command_in_a_sentence_is_possible(folder: Path) -> None:
    for document in DOCUMENTS:
        for span in filter(COMMAND.match, document.spans):
            with suppress(click.MissingParameter):  # a sentence may leave out what the page shows elsewhere
                for command in commands(span):
                    check(command, folder)


NOT_EXECUTED = {"serve", "create", "check", "adopt", "rebuild-summaries", "tail"}


def execute(command: Command, folder: Path, service: Service, usgs: UsgsServer) -> None:
    """Run a command, if it is quick and changes nothing outside the folder."""
    if command.name == "curl":
        fetch(command.words, service)
    elif command.name == "quakegraph" and not (NOT_EXECUTED & set(command.words)):
        done = quakegraph(*command.words[1:], settings={"GRAPH_USGS_URL": usgs.url, **KEPT})
        assert done.exit_code == 0, done.output
        if command.output:
            (folder / command.output).write_text(done.stdout)


def check(command: Command, folder: Path) -> None:
    """Assert that a command exists and takes its arguments."""
    name, arguments = command.name, command.words[1:]
    if command.words[0].startswith(".venv/bin/"):
        assert Path(sys.executable).with_name(name).exists() or f"\n{name}==" in DEVELOPMENT, name
    if name.startswith(("scripts/", ".ci/")):
        assert (ROOT / name).stat().st_mode & 0o111
        assert name != "scripts/check" or set(arguments) <= {*STEPS, "STEP..."}
    else:
        assert name in POSSIBLE, f"no test knows this command: {command.words}"
        assert POSSIBLE[name](arguments, folder), command.words


def is_a_variable(assigned: Sequence[str]) -> bool:
    """Whether a variable has an effect: it is a setting with a possible value, or belongs to what we use."""
    name, value = assigned
    if name.startswith("GRAPH_"):
        Settings(**{name.removeprefix("GRAPH_").lower(): value})  # type: ignore[arg-type]
        return name.removeprefix("GRAPH_").lower() in Settings.model_fields
    if name == "SKIP":
        return value in STEPS
    ours = any(f'"{name}"' in path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    return ours or name.startswith(("AWS_", "OTEL_", "OPENLINEAGE_", "FORWARDED_ALLOW_IPS"))


def is_possible_quakegraph(arguments: list[str], folder: Path) -> bool:
    """Parse the arguments by click's own rules, with the program's context: a command keeps its first help option."""
    command: click.Command = main
    rest = list(arguments)
    while isinstance(command, click.Group) and rest:
        command = command.commands[rest.pop(0)]
    if not isinstance(command, click.Group):
        with suppress(click.exceptions.Exit):  # of --help
            options = command.make_context(command.name, rest, click.Context(main, **main.context_settings)).params
            if command.name == "serve":
                Settings(**{name: value for name, value in options.items() if value is not None})
    return True


def is_possible_python(arguments: list[str], folder: Path) -> bool:
    """Whether it is a file, or a module that exists and whose source names the options."""
    if arguments[0] != "-m":
        return (ROOT / arguments[0]).is_file()
    module, *options = arguments[1:]
    if f"\n{module.partition('.')[0]}==" in f"\n{CODEGEN}":
        return True  # a test of its own runs it
    found = importlib.util.find_spec(module)
    assert found, module
    return module == "venv" or all(option in Path(found.origin or "").read_text() for option in options)


def is_possible_pip(arguments: list[str], folder: Path) -> bool:
    """Whether lock files and extras exist."""
    locks = [name for option, name in pairwise(arguments) if option == "-r"]
    extras = [found[1] for argument in arguments if (found := re.fullmatch(r"quakegraph\[(\w+)\]", argument))]
    return all((ROOT / name).is_file() for name in locks) and set(extras) <= EXTRAS.keys()


def is_possible_docker(arguments: list[str], folder: Path) -> bool:
    """Whether the port and the volume are the image's, and each variable is one of ours."""
    if arguments[0] == "build":
        return arguments == ["build", "-t", "quakegraph", "."]
    options = dict(pairwise(each for each in arguments if each != "--read-only"))
    port, volume, variable = (options[name].rpartition(":")[2] for name in ("-p", "-v", "-e"))
    image = f"EXPOSE {port}\n" in DOCKERFILE and f"VOLUME {volume}\n" in DOCKERFILE
    return arguments[0] == "run" and image and is_a_variable(variable.split("=", 1))


def is_possible_aws(arguments: list[str], folder: Path) -> bool:
    """Whether the files that it takes were written by a command before."""
    files = [one.removeprefix("file://") for one in arguments if one.endswith(".json")]
    written = bool(files) and all((folder / name).stat().st_size for name in files)
    return written and arguments[:2] in (["cloudformation", "deploy"], ["iam", "put-role-policy"])


POSSIBLE: dict[str, Callable[[list[str], Path], bool]] = {
    "aws": is_possible_aws,
    "curl": lambda arguments, _: bool(CURL.parse_args(arguments)),
    "docker": is_possible_docker,
    "export": lambda arguments, _: all(is_a_variable(argument.split("=", 1)) for argument in arguments),
    "npm": lambda arguments, _: all(f'"{name}": ' in NPM for name in arguments[1:] if not name.startswith("--")),
    "npx": lambda arguments, _: True,  # a test of its own runs it
    "openssl": lambda arguments, _: arguments == ["rand", "-hex", "32"],
    "pip": is_possible_pip,
    "pre-commit": lambda arguments, _: arguments == ["install"],
    "pytest": lambda arguments, _: all((ROOT / argument).exists() for argument in arguments if "/" in argument),
    "python": is_possible_python,
    "python3": is_possible_python,
    "quakegraph": is_possible_quakegraph,
}


def fetch(words: list[str], service: Service) -> None:
    """Send what curl would send, and assert that the answer has no error."""
    given = CURL.parse_args(words[1:])
    headers = dict(header.split(": ", 1) for header in given.headers)
    if headers.get("Authorization") == "Bearer $TOKEN":
        headers |= bearer()
    headers.setdefault("Accept", "*/*")
    headers.setdefault("User-Agent", "curl")
    with (
        httpx.Client(trust_env=False, timeout=service.http.timeout) as client,
        client.stream(
            "POST" if given.body else "GET",
            given.url.replace(HERE, service.url),
            headers=headers,
            params=dict(one.split("=", 1) for one in given.parameters) or None,  # nothing would drop those of the URL
            content=given.body,
        ) as answer,
    ):
        assert given.url.startswith(HERE)
        assert answer.status_code == 200, answer.read()
        if given.unbuffered:
            assert answer.headers["Content-Type"].startswith("text/event-stream")
        elif answer.headers["Content-Type"].startswith("application/json"):
            answer.read()
            assert "errors" not in answer.json()
        else:
            assert answer.read()


ANSWER = {"data", "errors"}


@dataclass(frozen=True)
class Query:
    """A query of a document, with the blocks below it."""

    text: str
    variables: Any = None
    answer: Any = None  # None where none is shown

    @property
    def type(self) -> OperationType:
        """The type of its operation."""
        operations = [node for node in parse(self.text).definitions if isinstance(node, OperationDefinitionNode)]
        return operations[0].operation


def queries(document: Document) -> Iterator[Query]:
    """The queries of a document that no other test executes."""
    blocks = [*document.blocks, Block("", "", None)]
    for at, block in enumerate(blocks):
        if block.language != "graphql" or block.test:
            continue
        variables = answer = None
        for below in blocks[at + 1 : at + 3]:
            if below.language != "json":
                break
            value = json.loads(below.text)
            if value.keys() <= ANSWER:
                answer = value
            else:
                variables = value
        yield Query(block.text, variables, answer)


WITH_QUERIES = {document.name: document for document in DOCUMENTS if any(queries(document))}


@pytest.mark.parametrize("name", WITH_QUERIES)
def test_the_queries_have_the_answers_that_are_printed(
    name: str, tmp_path: Path, week_file: Path, usgs: UsgsServer
) -> None:
    shutil.copy(week_file, tmp_path / "week.db")

    with running(settings(tmp_path / "week.db", usgs), clock=HeldClock()) as service:
        for query in queries(WITH_QUERIES[name]):
            assert validate(schema, parse(query.text)) == []
            if query.type is OperationType.SUBSCRIPTION:
                continue
            answer = service.answer(query.text, query.variables)
            if query.answer is None:
                assert answer.keys() == {"data"}, answer
            else:
                assert answer == query.answer


async def test_a_subscription_sends_what_is_stored(tmp_path: Path) -> None:
    found = [query for document in WITH_QUERIES.values() for query in queries(document)]
    subscriptions = [query for query in found if query.type is OperationType.SUBSCRIPTION]
    with live_service(Settings(store=f"sqlite:///{tmp_path}/live.db")) as service:
        for number, query in enumerate(subscriptions, 1):
            async with event_stream(service.url, query.text, variables=query.variables) as stream:
                assert await stream.block() == b":"  # which says that the stream has begun
                service.store(f"us{number}", mag=4.5)
                notice = (await stream.next_data())["events"]
            assert (notice["node"]["eventId"], notice["dropped"]) == (f"us{number}", 0)
    assert subscriptions


def test_the_readme_has_five_queries_each_with_its_answer_and_a_marked_block_names_an_existing_file() -> None:
    readme = list(queries(WITH_QUERIES["README.md"]))
    assert len(readme) == 5
    assert all(query.answer for query in readme)
    tests = {block.test for document in DOCUMENTS for block in document.blocks if block.test}
    assert [test for test in tests if not (ROOT / test).is_file()] == []
