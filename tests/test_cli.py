"""The command line: help that teaches, values that are checked, and the commands that are one call each."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from io import StringIO
from pathlib import Path
from uuid import uuid4

import click
import orjson
import pytest

from graph import __version__
from graph.cli import main
from graph.command_line import progress_line
from graph.domain import tables_of
from graph.domains import DOMAINS
from graph.domains.earthquakes.entities import DAY_SUMMARY, YEAR_SUMMARY
from graph.store.choices import TableChoices
from graph.store.cloudformation import template
from graph.store.contract import Put, Update
from graph.store.location import StoreLocation
from tests.domains.earthquakes.usgs.usgs_server import week_features
from tests.domains.entities import ENTITIES
from tests.processes import environment, quakegraph
from tests.settings import Settings
from tests.test_settings import SETTINGS

pytestmark = pytest.mark.usefixtures("folder")

SCHEMA = Path(__file__).parent.parent / "schema.graphql"


# Help


def commands(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words that call it."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield (*path, name), command


COMMANDS = dict(commands(main))


def test_the_commands_are_those_that_are_documented() -> None:
    assert sorted(" ".join(words) for words, _ in commands(main)) == [
        "deliver",
        "domains",
        "export",
        "files register",
        "ingest",
        "logs forget",
        "logs import",
        "logs tail",
        "rebuild",
        "rebuild-summaries",
        "reconcile",
        "schema",
        "serve",
        "tables adopt",
        "tables check",
        "tables create",
        "tables policy",
        "tables template",
        "token",
    ]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_help_of_a_command_explains_its_options_and_gives_an_example(words: tuple[str, ...]) -> None:
    result = quakegraph(*words, "--help")

    assert (result.exit_code, result.stderr) == (0, "")
    assert quakegraph(*words, "-h").stdout == result.stdout
    assert result.stdout.startswith(f"Usage: quakegraph {' '.join(words)} ")
    assert f"\n    quakegraph {' '.join(words)}" in result.stdout.partition("Example")[2]
    for parameter in COMMANDS[words].params:
        if isinstance(parameter, click.Option):
            assert parameter.help
            assert f"  {parameter.opts[0]}" in result.stdout
    assert all(len(line) <= 100 for line in result.stdout.splitlines())


def test_without_a_command_the_help_shows_how_to_begin() -> None:
    for arguments in ([], ["--help"]):
        result = quakegraph(*arguments)

        said = result.stdout + result.stderr
        for words in ("serve --demo", "ingest --recent", "ingest all_week.geojson"):
            assert f"quakegraph {words}" in said
        for name in ("ingest", "logs", "rebuild-summaries", "reconcile", "schema", "serve", "tables"):
            assert f"\n  {name} " in said


def test_every_option_of_serve_is_a_setting_with_its_default() -> None:
    said = " ".join(quakegraph("serve", "--help").stdout.split())

    for parameter in COMMANDS["serve",].params:
        assert parameter.name in Settings.model_fields
        default = Settings.model_fields[str(parameter.name)].default
        if default is not False:
            assert f"[default: {default}]" in said


def test_the_module_and_the_script_are_the_same_command() -> None:
    (script,) = entry_points(group="console_scripts", name="quakegraph")
    module = subprocess.run(
        [sys.executable, "-m", "graph", "--version"], env=environment(), capture_output=True, text=True, check=True
    )

    assert script.load() is main
    assert module.stdout == f"quakegraph, version {__version__}\n"


# Wrong values

WRONG = {name: wrong for name, (_, _, wrong) in SETTINGS.items() if wrong}
ANY_TEXT = {"host", "hot_services", "jwt_issuer", "jwt_audience", "allowed_documents", "sighting_areas"}
OPTIONS = [parameter.name for parameter in COMMANDS["serve",].params if not getattr(parameter, "is_flag", False)]


def test_every_validated_setting_has_a_wrong_value_in_this_test() -> None:
    assert WRONG.keys() == Settings.model_fields.keys() - ANY_TEXT


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_variable_or_option_ends_with_one_line_that_names_it(folder: Path, name: str) -> None:
    variable = f"GRAPH_{name.upper()}"
    results = [(variable, quakegraph("serve", settings={variable: value})) for value in WRONG[name]]
    if name in OPTIONS:
        results += [(f"--{name}", quakegraph("serve", f"--{name}", value)) for value in WRONG[name]]

    for named, result in results:
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.splitlines()[-1].startswith(f"Error: {named}: ")
    assert list(folder.iterdir()) == []


def test_a_right_option_is_not_held_up_by_a_wrong_variable() -> None:
    result = quakegraph(
        "tables", "create", "--store", "sqlite:///quakes.db", settings={"GRAPH_STORE": "mysql://quakes"}
    )

    assert (result.exit_code, result.stderr) == (0, "")


OPENING = [words for words, command in COMMANDS.items() if any(p.name == "store" for p in command.params)]
NAMING = {("token",), ("tables", "policy"), ("tables", "template")}  # which do not open it
OPENING = [words for words in OPENING if words not in NAMING]


@pytest.mark.parametrize("words", OPENING)
def test_every_command_with_a_store_names_what_is_wrong_with_it(words: tuple[str, ...]) -> None:
    required = [p for p in COMMANDS[words].params if p.required]
    values = ["." if isinstance(p.type, click.Path) else "2023-08-01" for p in required]
    rest = [
        word
        for p, value in zip(required, values, strict=True)
        for word in ((p.opts[0], value) if isinstance(p, click.Option) else ("1",))
    ]
    rest = ["-"] if words in {("ingest",), ("logs", "import")} else rest
    Path("letter.db").write_text("Dear reader, this is no database, though it is long enough to look. " * 99)

    wrong = quakegraph(*words, *rest, "--store", "here")
    missing = quakegraph(*words, *rest, "--store", "sqlite:///none/quakes.db")
    broken = quakegraph(*words, *rest, settings={"GRAPH_STORE": "sqlite:///letter.db"})

    assert (wrong.exit_code, missing.exit_code, broken.exit_code) == (2, 1, 1)
    said = "Error: --store: 'here' is not a store URL: write sqlite:///FILE, dynamodb:// or dynamodb://PREFIX."
    assert wrong.stderr.splitlines()[-1] == said
    assert missing.stderr == "Error: SQLite cannot open none/quakes.db: unable to open database file\n"
    assert broken.stderr == "Error: SQLite cannot open letter.db: file is not a database\n"


# Schema and tables


def test_the_schema_is_printed_as_it_is_checked_in() -> None:
    assert quakegraph("schema").stdout == SCHEMA.read_text()
    assert quakegraph("schema", settings={"GRAPH_FEDERATION": "true"}).stdout.startswith("extend schema\n  @link(")


@pytest.mark.parametrize("settings", [{}, {"GRAPH_STORE": "dynamodb://my-", "GRAPH_TABLE_BILLING": "on-demand"}])
def test_the_template_of_the_tables_is_printed_as_the_settings_say(settings: dict[str, str]) -> None:
    result = quakegraph("tables", "template", settings={**settings, "AWS_REGION": "eu-west-1"})

    prefix = "my-" if settings else ""
    choices = TableChoices(prefix=prefix, billing="on-demand" if settings else "documented")
    assert result.stdout == template(tables_of(DOMAINS), region="eu-west-1", choices=choices)
    assert f'"Default": "{prefix}earthquake-events"' in result.stdout
    assert ("PROVISIONED" in result.stdout) is not bool(settings)


def test_a_table_is_made_in_a_file() -> None:
    for _ in range(2):
        result = quakegraph("tables", "create", "--store", "sqlite:///quakes.db")
        assert result.stdout.startswith("The file quakes.db holds the table")
        assert "earthquake-events" in result.stdout

    assert Path("quakes.db").is_file()


def test_a_table_is_made_in_dynamodb_and_used(administered_dynamodb: str) -> None:
    store = ("--store", f"dynamodb://{uuid4().hex}-")
    few = b"".join(orjson.dumps(feature) + b"\n" for feature in week_features()[:50])

    before = quakegraph("ingest", "-", *store, stdin=b"")
    missing = quakegraph("tables", "check", *store)
    made = quakegraph("tables", "create", "--no-stream", *store)
    again = quakegraph("tables", "adopt", *store)
    checked = quakegraph("tables", "check", *store)
    ingested = quakegraph("ingest", "-", *store, stdin=few)

    assert (before.exit_code, before.stderr.count("\n")) == (1, 1)
    assert "does not exist" in before.stderr
    assert (made.stderr, again.stderr, checked.stderr) == ("", "", "")
    assert ("stream" in made.stdout, "stream" in again.stdout) == (False, True)
    assert (missing.exit_code, missing.stdout.splitlines()[-1][:24]) == (1, "The service cannot run: ")
    for done in (made, again, checked):
        assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "The service can run.")
    assert ingested.stdout == "-: 50 fetched, 50 upserted, 0 revised, 0 skipped, 0 rejected\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_one_line_of_a_terminal_and_few_lines_elsewhere(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stderr", shown)

    with progress_line() as progress:
        for seconds in range(31):
            progress(f"{seconds} s")

    written = "".join(f"\r\x1b[K{seconds} s" for seconds in range(31)) + "\r\x1b[K"
    assert shown.getvalue() == (written if is_terminal else "0 s\n30 s\n")


def test_a_profile_that_does_not_exist_ends_the_template_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)

    result = quakegraph("tables", "template", settings={"AWS_PROFILE": "nobody", "AWS_REGION": ""})

    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "check AWS_ACCESS_KEY_ID, AWS_PROFILE or the role" in result.stderr


# Rebuilding


def test_summaries_of_another_writer_are_rebuilt() -> None:
    few = b"".join(orjson.dumps(feature) + b"\n" for feature in week_features()[::100])
    quakegraph("ingest", "-", stdin=few)
    assert quakegraph("rebuild-summaries").stdout == "22 events on 8 days; 0 summaries corrected.\n"

    corrupt_summaries(Path("quakegraph.db"))

    assert quakegraph("rebuild-summaries").stdout == "22 events on 8 days; 2 summaries corrected.\n"
    assert quakegraph("rebuild-summaries").stdout == "22 events on 8 days; 0 summaries corrected.\n"


def corrupt_summaries(file: Path) -> None:
    """Make two summaries say something else than the events."""

    async def work() -> None:
        async with StoreLocation.of(f"sqlite:///{file}").open(ENTITIES) as database:
            await database.update(Update(YEAR_SUMMARY.key_for("2023"), add={"events": 5, "revision": 1}))
            await database.transact([Put(DAY_SUMMARY, {"year": "2023", "day": "20230801", "events": 1})])

    asyncio.run(work())
