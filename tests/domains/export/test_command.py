"""`quakegraph export`: to a file and to standard output, interrupted and resumed."""

import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from graph.domains.export.files import ExportFile
from graph.domains.export.formats import ExportFormat
from tests.children import Child
from tests.domains.earthquakes.ingest.ingests import a_feature
from tests.domains.export.readers import check_end
from tests.processes import TIMEOUT_S, environment, quakegraph
from tests.service import Service
from tests.store.samples import NOON

STORE = "sqlite:///week.db"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, week_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a copy of the real week."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(week_file, "week.db")
    return tmp_path


def of_service(service: Service, name: str, **parameters: str) -> bytes:
    return service.http.get(f"/export/events.{name}", params=parameters).content


def without_end(lines: bytes) -> list[bytes]:
    return [line for line in lines.splitlines() if not line.startswith(b'{"_end"')]


def files() -> set[str]:
    return {path.name for path in Path().iterdir() if not path.name.startswith("week.db")}


def test_a_file_has_what_the_service_answers(week: Service) -> None:
    for name, options in (("ndjson", ()), ("csv", ()), ("geojson", ()), ("dat", ("--format", "ndjson"))):
        selected = ("--where", "minMagnitude=2", "--order-by", "TIME_ASC", "--store", STORE)
        done = quakegraph("export", f"found.{name}", *selected, *options)

        assert done.exit_code == 0, done.output
        expected = of_service(week, "ndjson" if options else name, minMagnitude="2", orderBy="TIME_ASC")
        found = Path(f"found.{name}").read_bytes()
        if name == "csv":
            assert found == expected
        else:
            assert found.splitlines()[:-1] == expected.splitlines()[:-1]  # the last line has the time
        assert files() == {f"found.{name}"}
        assert f"found.{name}: " in done.stderr
        Path(f"found.{name}").unlink()


def test_csv_for_a_spreadsheet_is_a_switch() -> None:
    Path("one.ndjson").write_bytes(orjson.dumps(a_feature("us1", place="=1+1")))
    assert quakegraph("ingest", "one.ndjson", "--store", "sqlite:///one.db").exit_code == 0
    for switch, place in ((), ',"=1+1",'), (("--spreadsheet",), ',"\'=1+1",'):
        assert quakegraph("export", "one.csv", *switch, "--store", "sqlite:///one.db").exit_code == 0
        assert place in Path("one.csv").read_text()
        Path("one.csv").unlink()


def test_standard_output_has_lines_of_json_which_may_begin_behind_an_event(week: Service) -> None:
    done = quakegraph("export", "--filter", '{"minMagnitude": 4.5}', "--store", STORE)

    *lines, end = map(orjson.loads, done.stdout.splitlines())
    assert end["_end"]["count"] == len(lines) > 10
    assert all(line["mag"] >= 4.5 for line in lines)

    whole = without_end(of_service(week, "ndjson"))
    after = str(orjson.loads(whole[99])["eventId"])
    assert without_end(quakegraph("export", "--after", after, "--store", STORE).stdout_bytes) == whole[100:]
    assert files() == set()


WRONG: dict[str, tuple[str, ...]] = {
    "unknown field": ("--where", "minMag=5"),
    "no value": ("--where", "minMagnitude"),
    "no JSON": ("--filter", "{"),
    "unknown order": ("--order-by", "SIZE"),
    "no suffix": ("events.dat",),
    "no such event": ("--after", "unknown"),
    "no file to resume": ("--resume",),
    "no lines to resume": ("events.parquet", "--resume"),
}


def test_wrong_arguments_write_nothing() -> None:
    for why, arguments in WRONG.items():
        done = quakegraph("export", *arguments, "--store", STORE)

        assert done.exit_code in (1, 2), why
        assert done.stderr.splitlines()[-1].startswith("Error: "), why
        assert (done.stdout, files()) == ("", set()), why


# Interruptions


def cut_to(size: int) -> Callable[[bytes], bytes]:
    return lambda whole: whole[:size]


CUTS: dict[str, Callable[[bytes], bytes]] = {
    "nothing": cut_to(0),
    "half a line": cut_to(100),
    "some lines and a half": cut_to(300_000),
    "whole lines": lambda whole: whole[: whole.index(b"\n", 300_000) + 1],
    "all but the last byte": lambda whole: whole[:-1],
    "everything": lambda whole: whole,
}


@pytest.mark.parametrize("name", ["found.ndjson", "found.csv"])
def test_an_interrupted_export_goes_on_behind_its_last_whole_line(name: str) -> None:
    """The part and its note are those that a killed export of the same command has left."""
    arguments = ("export", name, "--where", "minDepth=0", "--store", STORE)
    assert quakegraph(*arguments).exit_code == 0
    whole = Path(name).read_bytes()
    events = b"".join(whole.splitlines(keepends=True)[:-1]) if "json" in name else whole
    file = ExportFile(Path(name), ExportFormat[Path(name).suffix[1:].upper()], [("minDepth", "0")])
    for where, cut in CUTS.items():
        Path(f"{name}.part").write_bytes(cut(events))
        file.note.write_bytes(file.note_of(NOON))
        Path(name).unlink()

        done = quakegraph(*arguments, "--resume")

        assert done.exit_code == 0, (where, done.output)
        assert without_end(Path(name).read_bytes()) == without_end(whole), where
        if "json" in name:
            assert check_end(Path(name).read_bytes()) == whole.count(b"\n") - 1
        assert files() == {name}


KILLED = """
import resource, signal, sys
from graph.cli import main

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
main(sys.argv[1:])
"""


def test_a_killed_export_leaves_no_file_and_resumes(folder: Path, week: Service) -> None:
    """The kernel kills the process in the middle of the write that exceeds a limit."""
    arguments = ("export", "found.ndjson", "--store", STORE)
    with Child([sys.executable, "-c", KILLED, *arguments], cwd=folder, env=environment()) as process:
        assert process.wait(TIMEOUT_S) == -signal.SIGXFSZ
    assert files() == {"found.ndjson.part", "found.ndjson.part.json"}
    assert Path("found.ndjson.part").stat().st_size == 600_000

    done = quakegraph(*arguments, "--resume")

    assert done.exit_code == 0, done.output
    lines = Path("found.ndjson").read_bytes()
    assert without_end(lines) == without_end(of_service(week, "ndjson"))
    assert check_end(lines) == lines.count(b"\n") - 1


def test_another_export_cannot_be_resumed() -> None:
    Path("found.csv.part").write_text("time\n")
    Path("found.csv.part.json").write_text('{"format": "csv", "parameters": [], "columns": [], "asOf": 0}')

    done = quakegraph("export", "found.csv", "--resume", "--store", STORE)

    assert done.exit_code == 1
    assert "is of another export" in done.stderr
    assert files() == {"found.csv.part", "found.csv.part.json"}
