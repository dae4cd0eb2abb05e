"""Tests that each command of a document is possible: it exists and takes its options. Quick commands are executed.

Executed are `quakegraph`, unless it serves or changes DynamoDB, and `curl`, except in blocks that a test of their own
executes. Of all others it is checked that what they name exists. A command that nothing here knows fails the test.
"""

import argparse
import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click
import httpx
import pytest

from graph.cli import main
from tests.bearers import bearer
from tests.documents.markdown import DOCUMENTS, ROOT, Block, Document
from tests.documents.shell import SUBSTITUTED, Command, commands
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.service_logs.lines import KEPT, a_line, a_record, a_request, ndjson
from tests.processes import quakegraph
from tests.service import Service
from tests.settings import Settings

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
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def scripts(document: Document) -> Iterator[Block]:
    """Its shell blocks."""
    return (block for block in document.blocks if block.language in ("sh", "bash", "console"))


WITH_SCRIPTS = [document for document in DOCUMENTS if any(scripts(document))]
SPANS = [
    (document.name, span)
    for document in DOCUMENTS
    for span in document.spans
    if re.match(r"(quakegraph|python -m|docker|pip|\.venv/bin/\w+|scripts/[\w-]+|\.ci/run)( |$)", span)
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the files that commands read."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("document", WITH_SCRIPTS, ids=lambda document: document.name)
def test_the_commands_of_a_block_do_what_they_say(
    document: Document, folder: Path, own_week: Service, usgs: UsgsServer
) -> None:
    for script in scripts(document):
        for command in commands(script.text):
            assert set(command.settings) <= {"TOKEN"} or all(map(is_a_variable, command.settings.items()))
            if command.words:
                checked(command, folder)
                if not script.test:
                    executed(command, folder, own_week, usgs)


@pytest.mark.parametrize(("name", "span"), SPANS)
def test_a_command_in_a_sentence_is_possible(name: str, span: str, folder: Path) -> None:
    with suppress(click.MissingParameter):  # a sentence may leave out what the page shows elsewhere
        for command in commands(span):
            checked(command, folder)


def executed(command: Command, folder: Path, service: Service, usgs: UsgsServer) -> None:
    """Run a command, if it is quick and changes nothing outside the folder."""
    if command.name == "curl":
        fetched(command.words, service)
    elif command.name == "quakegraph" and not ({"serve", "create", "rebuild-summaries", "tail"} & set(command.words)):
        done = quakegraph(*command.words[1:], settings={"GRAPH_USGS_URL": usgs.url, **KEPT})
        assert done.exit_code == 0, done.output
        if command.output:
            (folder / command.output).write_text(done.stdout)


def checked(command: Command, folder: Path) -> None:
    """Assert that a command exists and takes its arguments."""
    name, arguments = command.name, command.words[1:]
    if command.words[0].startswith(".venv/bin/"):
        assert Path(sys.executable).with_name(name).exists(), name
    if name.startswith(("scripts/", ".ci/")):
        assert (ROOT / name).stat().st_mode & 0o111
        assert name != "scripts/check" or set(arguments) <= {*STEPS, "STEP..."}
    elif name in CHECKS:
        CHECKS[name](arguments, folder)
    else:
        pytest.fail(f"no test knows the command {name}: {command.words}")


def is_a_variable(assigned: tuple[str, str]) -> bool:
    """Whether a variable has an effect: it is a setting with a possible value, or belongs to what we use."""
    name, value = assigned
    if name.startswith("GRAPH_"):
        Settings(**{name.removeprefix("GRAPH_").lower(): value})  # type: ignore[arg-type]
        return name.removeprefix("GRAPH_").lower() in Settings.model_fields
    if name == "SKIP":
        return value in STEPS
    ours = any(f'"{name}"' in path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    return ours or name.startswith(("AWS_", "OTEL_", "OPENLINEAGE_", "FORWARDED_ALLOW_IPS"))


def check_export(arguments: list[str], folder: Path) -> None:
    assert all(is_a_variable((name, value)) for name, _, value in (one.partition("=") for one in arguments))


def check_quakegraph(arguments: list[str], folder: Path) -> None:
    """Parse the arguments by click's own rules, with the program's context: a command keeps its first help option."""
    command: click.Command = main
    rest = list(arguments)
    while isinstance(command, click.Group) and rest:
        command = command.commands[rest.pop(0)]
    if isinstance(command, click.Group):
        return
    try:
        options = command.make_context(command.name, rest, click.Context(main, **main.context_settings)).params
    except click.exceptions.Exit:  # --help
        return
    if command.name == "serve":
        Settings(**{name: value for name, value in options.items() if value is not None})


def check_curl(arguments: list[str], folder: Path) -> None:
    CURL.parse_args(arguments)


def check_python(arguments: list[str], folder: Path) -> None:
    """A module that exists, and options that its source names."""
    if arguments[0] != "-m":
        assert (ROOT / arguments[0]).is_file()
        return
    module, *options = arguments[1:]
    found = importlib.util.find_spec(module)
    assert found, module
    assert module == "venv" or (found.origin and all(one in Path(found.origin).read_text() for one in options))


def check_pip(arguments: list[str], folder: Path) -> None:
    """Lock files and extras exist."""
    for at, argument in enumerate(arguments):
        if argument == "-r":
            assert (ROOT / arguments[at + 1]).is_file()
        if extra := re.fullmatch(r"quakegraph\[(\w+)\]", argument):
            assert extra[1] in EXTRAS


def check_pytest(arguments: list[str], folder: Path) -> None:
    assert all((ROOT / one).exists() for one in arguments if "/" in one)


def check_docker(arguments: list[str], folder: Path) -> None:
    """The port and the volume are the image's, and each variable is one of ours."""
    assert arguments[0] in ("build", "run")
    options = dict(zip(arguments[1::2], arguments[2::2], strict=False))
    if arguments[0] == "build":
        assert arguments == ["build", "-t", "quakegraph", "."]
    else:
        assert f"EXPOSE {options['-p'].rpartition(':')[2]}\n" in DOCKERFILE
        assert f"VOLUME {options['-v'].rpartition(':')[2]}\n" in DOCKERFILE
        name, _, value = options["-e"].partition("=")
        assert is_a_variable((name, value))


def check_aws(arguments: list[str], folder: Path) -> None:
    """The files that it takes were written by a command before."""
    assert tuple(arguments[:2]) in (("cloudformation", "deploy"), ("iam", "put-role-policy"))
    files = [one.removeprefix("file://") for one in arguments if one.endswith(".json")]
    assert files
    assert all((folder / name).stat().st_size for name in files)


def check_openssl(arguments: list[str], folder: Path) -> None:
    assert arguments == ["rand", "-hex", "32"]


def check_pre_commit(arguments: list[str], folder: Path) -> None:
    assert arguments == ["install"]


CHECKS = {
    "aws": check_aws,
    "curl": check_curl,
    "docker": check_docker,
    "export": check_export,
    "openssl": check_openssl,
    "pip": check_pip,
    "pre-commit": check_pre_commit,
    "pytest": check_pytest,
    "python": check_python,
    "python3": check_python,
    "quakegraph": check_quakegraph,
}

CURL = argparse.ArgumentParser(exit_on_error=False)
CURL.add_argument("url")
CURL.add_argument("-H", dest="headers", action="append", default=[])
CURL.add_argument("-d", dest="body")
CURL.add_argument("-G", dest="as_query", action="store_true")
CURL.add_argument("-N", dest="unbuffered", action="store_true")
CURL.add_argument("--data-urlencode", dest="parameters", action="append", default=[])


def fetched(words: list[str], service: Service) -> None:
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


def test_a_command_is_split_as_a_shell_splits_it() -> None:
    first, second, third = commands("A=1 one $(two -x) 'a b' && three > out.json  # a remark")

    assert first == Command(["two", "-x"])
    assert second == Command(["one", SUBSTITUTED, "a b"], {"A": "1"})
    assert third == Command(["three"], {}, "out.json")


@pytest.mark.parametrize("text", ["quakegraph serve --prot 8000", "quakegraph sing", "export GRAPH_PROT=1", "rm -r x"])
def test_an_impossible_command_is_detected(text: str, folder: Path) -> None:
    (command,) = commands(text)

    with pytest.raises((click.UsageError, KeyError, AssertionError, pytest.fail.Exception)):
        checked(command, folder)
