"""`quakegraph files register`: what it prints, what it registers, and its exit status."""

from pathlib import Path

import orjson
import pytest
from click.testing import Result

from tests.domains.libera.edos_records import NAME, Record
from tests.domains.libera.files import MANIFEST, RUN_ID, data, level_0, manifest, product
from tests.processes import quakegraph

pytestmark = pytest.mark.usefixtures("folder")

RAD = product()


def register(*arguments: str) -> Result:
    """Run `quakegraph files register` in this process and in the working folder."""
    return quakegraph("files", "register", *arguments)


def test_files_are_registered_once() -> None:
    data(RAD, folder="out")
    level_0("out")
    manifest([(RAD, b"data")], [(NAME, Record().packed())], "out")

    for counts in ("3 registered, 0 skipped", "0 registered, 3 skipped"):
        result = register("out")
        assert (result.exit_code, result.stdout) == (0, f"{counts}, 0 ignored, 0 rejected; runs: 1\n")


def test_rejected_files_are_named_and_the_status_is_1() -> None:
    data(RAD)
    data("notes.txt")
    data(MANIFEST, b"{")

    as_text, as_json = register("notes.txt", RAD, "gone", MANIFEST), register("--json", "gone")

    assert as_text.exit_code == as_json.exit_code == 1
    *lines, of_manifest = as_text.stdout.splitlines()
    assert lines == [
        "1 registered, 0 skipped, 0 ignored, 3 rejected; runs: 0",
        "  notes.txt: 'notes.txt' is not the name of a data product of Libera.",
        "  gone: It cannot be read: No such file or directory.",
    ]
    assert of_manifest.startswith(f"  {MANIFEST}: It is no JSON")
    counts = {"registered": 0, "skipped": 0, "ignored": 0, "ignored_paths": [], "rejected": 1, "runs": 0}
    rejections = [{"path": "gone", "message": "It cannot be read: No such file or directory."}]
    assert orjson.loads(as_json.stdout) == {**counts, "rejections": rejections}


def test_what_is_ignored_is_named_with_the_reason_and_is_no_failure() -> None:
    data(RAD, folder="out")
    for number in range(12):
        data(f"notes{number:02}.txt", folder="out")

    result, as_json, dry = (register(*each, "out") for each in ((), ("--json",), ("--dry-run",)))

    summary, first, *_, last = result.stdout.splitlines()
    assert (result.exit_code, summary) == (0, "1 registered, 0 skipped, 12 ignored, 0 rejected; runs: 0")
    message = "out/notes00.txt: Ignored: 'notes00.txt' is not the name of a data product of Libera."
    assert first == f"  {message}"
    assert last.startswith("  and ")
    assert len(orjson.loads(as_json.stdout)["ignored_paths"]) == 12
    assert message in dry.stdout.splitlines()


def test_a_dry_run_prints_what_would_be_registered_and_opens_no_store() -> None:
    data(RAD)
    level_0()
    data(product("CAL", "GAIN"))
    manifest([(RAD, b"other")], [(NAME, b"")])

    result = register("--dry-run", ".")

    assert result.exit_code == 1
    printed = result.stdout.splitlines()
    assert [line.partition(" checksum=")[0] for line in printed] == [
        f"{product('CAL', 'GAIN')} level=CAL product=GAIN version=1.2.3 bytes=4",
        f"{NAME} level=L0 product=PDS-CR version=5.2 days=2027-03-01,2027-03-02 bytes=384",
        f"{NAME[:-6]}01.PDS level=L0 product=SC-POS-PDS version=5.2 bytes=7",
        f"run {RUN_ID}: 1 used, 1 generated",
        f"{RAD}: Its MD5 checksum is 8d777f385d3dfec8815d20f7496026dc, and its manifest says "
        "795f3202b17cb6bc3d4b771d8c6c9eaf.",
    ]
    assert printed[0].endswith(" calibrates=GAIN")

    manifest([(RAD, b"data")])
    file, run = (orjson.loads(line) for line in register("--dry-run", "--json", RAD, MANIFEST).stdout.splitlines())
    of_file = file["file"]["name"], file["file"]["sortable"][0]["applicable_dates"]
    assert of_file == (RAD, ["2027-03-01", "2027-03-02"])
    assert run == {"run": {"id": RUN_ID, "used": 0, "generated": 1}}
    assert not Path("quakegraph.db").exists()
