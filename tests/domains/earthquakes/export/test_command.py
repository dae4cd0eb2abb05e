"""`quakegraph export`: to a file and to standard output, interrupted and resumed."""

import hashlib
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import orjson
import pyarrow.parquet
import pytest

from graph.domains.earthquakes.export.files import ExportFile
from graph.domains.earthquakes.export.formats import ExportFormat
from tests.processes import TIMEOUT_S, quakegraph, started
from tests.service import Service
from tests.store.samples import NOON

STORE = "sqlite:///week.db"
SELECTED = ("--where", "minMagnitude=2", "--order-by", "TIME_ASC", "--store", STORE)


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


@pytest.mark.parametrize("name", ["ndjson", "csv", "geojson"])
def test_a_file_has_what_the_service_answers(week: Service, name: str) -> None:
    done = quakegraph(
        "export", f"found.{name}", "--where", "minMagnitude=2", "--order-by", "TIME_ASC", "--store", STORE
    )

    assert done.exit_code == 0, done.output
    expected = of_service(week, name, minMagnitude="2", orderBy="TIME_ASC")
    found = Path(f"found.{name}").read_bytes()
    if name == "csv":
        assert found == expected
    else:
        assert found.splitlines()[:-1] == expected.splitlines()[:-1]  # the last line has the time
    assert files() == {f"found.{name}"}
    assert f"found.{name}: " in done.stderr


def test_standard_output_has_lines_of_json() -> None:
    done = quakegraph("export", "--filter", '{"minMagnitude": 4.5}', "--store", STORE)

    *lines, end = map(orjson.loads, done.stdout.splitlines())
    assert end["_end"]["count"] == len(lines) > 10
    assert all(line["mag"] >= 4.5 for line in lines)
    assert files() == set()


def test_the_format_may_be_named(week: Service) -> None:
    assert quakegraph("export", "found.dat", "--format", "parquet", "--store", STORE).exit_code == 0
    assert pyarrow.parquet.read_metadata("found.dat").num_rows == len(without_end(of_service(week, "ndjson")))


def test_the_events_may_begin_behind_one(week: Service) -> None:
    lines = without_end(of_service(week, "ndjson"))
    after = str(orjson.loads(lines[99])["eventId"])

    assert without_end(quakegraph("export", "--after", after, "--store", STORE).stdout_bytes) == lines[100:]


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


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_wrong_arguments_write_nothing(arguments: tuple[str, ...]) -> None:
    done = quakegraph("export", *arguments, "--store", STORE)

    assert done.exit_code in (1, 2)
    assert done.stderr.splitlines()[-1].startswith("Error: ")
    assert done.stdout == ""
    assert files() == set()


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


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("name", ["found.ndjson", "found.csv"])
def test_an_interrupted_export_goes_on_behind_its_last_whole_line(name: str, cut: Callable[[bytes], bytes]) -> None:
    """The part and its note are those that a killed export of the same command has left."""
    arguments = ("export", name, "--where", "minDepth=0", "--store", STORE)
    assert quakegraph(*arguments).exit_code == 0
    whole = Path(name).read_bytes()
    Path(f"{name}.part").write_bytes(cut(b"".join(whole.splitlines(keepends=True)[:-1]) if "json" in name else whole))
    file = ExportFile(Path(name), ExportFormat(Path(name).suffix[1:]), [("minDepth", "0")])
    file.note.write_bytes(file.note_of(NOON))
    Path(name).unlink()

    done = quakegraph(*arguments, "--resume")

    assert done.exit_code == 0, done.output
    assert without_end(Path(name).read_bytes()) == without_end(whole)
    if name.endswith("ndjson"):
        *lines, end = Path(name).read_bytes().splitlines(keepends=True)
        ending = orjson.loads(end)["_end"]
        assert ending["count"] == len(lines)
        assert ending["sha256"] == hashlib.sha256(b"".join(lines)).hexdigest()
    assert files() == {name}


def test_a_killed_export_leaves_no_file_and_resumes(folder: Path, dense_file: Path) -> None:
    shutil.copy(dense_file, "dense.db")
    arguments = ("export", "found.ndjson", "--store", "sqlite:///dense.db")
    with started(*arguments, folder=folder) as process:
        part = Path("found.ndjson.part")
        while not part.exists() or part.stat().st_size < 1_000_000:
            assert process.poll() is None
            os.sched_yield()
        process.send_signal(signal.SIGKILL)
        process.wait(TIMEOUT_S)
    assert not Path("found.ndjson").exists()
    assert part.stat().st_size < 25_000_000

    done = quakegraph(*arguments, "--resume")

    assert done.exit_code == 0, done.output
    *lines, end = Path("found.ndjson").read_bytes().splitlines(keepends=True)
    ids = [orjson.loads(line)["eventId"] for line in lines]
    assert len(set(ids)) == len(ids) == orjson.loads(end)["_end"]["count"] == 60_000
    assert orjson.loads(end)["_end"]["sha256"] == hashlib.sha256(b"".join(lines)).hexdigest()


def test_another_export_cannot_be_resumed(folder: Path) -> None:
    Path("found.csv.part").write_text("time\n")
    Path("found.csv.part.json").write_text('{"format": "csv", "parameters": [], "columns": [], "asOf": 0}')

    done = quakegraph("export", "found.csv", "--resume", "--store", STORE)

    assert done.exit_code == 1
    assert "is of another export" in done.stderr
    assert files() == {"found.csv.part", "found.csv.part.json"}
