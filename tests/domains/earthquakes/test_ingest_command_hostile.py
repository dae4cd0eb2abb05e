"""`quakegraph ingest` of files that attack its parser: the process lives, and takes what is whole."""

import json
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.domains.earthquakes.ingest.ingests import a_feature
from tests.processes import TIMEOUT_S, started

NUMBERS = ["1" * 5000, "-" + "1" * 5000, "9223372036854775808", "18446744073709551616", "-9223372036854775809", "1e400"]
UNREADABLE = "FEATURE_UNREADABLE: Feature {} is unreadable: it holds a number out of range."


def written(folder: Path, name: str, features: list[Any]) -> None:
    """A FeatureCollection; a text such as `@1` in it becomes the number of that place in `NUMBERS`."""
    content = orjson.dumps({"type": "FeatureCollection", "features": features})
    for place, number in enumerate(NUMBERS):
        content = content.replace(b'"@%d"' % place, number.encode())
    (folder / name).write_bytes(content)


def ingested(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a process of its own did."""
    with started("ingest", *arguments, folder=folder) as process:
        output, errors = process.communicate(timeout=TIMEOUT_S)
        return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


def test_numbers_out_of_range_reject_their_features_and_neither_end_the_process_nor_stop_at_their_file(
    tmp_path: Path,
) -> None:
    attacks = [a_feature(f"@{place}") for place in range(len(NUMBERS))]
    written(tmp_path, "bad.geojson", [a_feature("us1"), *attacks, a_feature("us2", felt="@0"), a_feature("us3")])
    written(tmp_path, "good.geojson", [a_feature("us4"), a_feature("us5")])

    both = ingested(tmp_path, "bad.geojson", "good.geojson")
    again = ingested(tmp_path, "good.geojson")

    assert both.stdout.splitlines() == [
        "bad.geojson: 9 fetched, 2 upserted, 0 revised, 0 skipped, 7 rejected",
        *[f"  (no id): {UNREADABLE.format(position)}" for position in range(2, 7)],
        "  and 2 more",
        "good.geojson: 2 fetched, 2 upserted, 0 revised, 0 skipped, 0 rejected",
    ]
    assert (both.returncode, both.stderr) == (0, "")
    assert again.stdout == "good.geojson: 2 fetched, 0 upserted, 0 revised, 2 skipped, 0 rejected\n"


def test_a_file_of_nothing_but_numbers_out_of_range_fails_and_the_next_one_is_stored(tmp_path: Path) -> None:
    written(tmp_path, "bad.geojson", [a_feature("@0")])
    written(tmp_path, "good.geojson", [a_feature("us4")])

    both = ingested(tmp_path, "--json", "bad.geojson", "good.geojson")

    bad, good = map(json.loads, both.stdout.splitlines())
    assert (bad["fetched"], bad["rejected"], "error" in bad) == (1, 1, False)
    assert (good["fetched"], good["upserted"], "error" in good) == (1, 1, False)
    assert (both.returncode, both.stderr) == (1, "")


@pytest.mark.parametrize("form", ["collection", "lines"])
def test_half_a_surrogate_pair_rejects_its_event_and_is_not_replaced(tmp_path: Path, form: str) -> None:
    texts = ["a\ud800", "\udc00a", "\ud800\u0041"]
    features = [
        *[a_feature(text) for text in texts],
        *[a_feature(f"us{place}", url=text) for place, text in enumerate(texts)],
        a_feature("us8", tz="a\ud800"),  # which is not stored
        a_feature("us9", place="\U0001f30b"),
    ]
    whole = json.dumps({"type": "FeatureCollection", "features": features})
    (tmp_path / "file").write_text(whole if form == "collection" else "\n".join(map(json.dumps, features)))

    result = ingested(tmp_path, "--json", "file")

    report = json.loads(result.stdout)
    assert [(rejection["eventId"], rejection["code"]) for rejection in report["rejections"]] == [
        *[(None, "ID_INVALID")] * 3,
        *[(f"us{place}", "FEATURE_UNREADABLE") for place in range(3)],
    ]
    assert (report["fetched"], report["upserted"], result.returncode, result.stderr) == (8, 2, 0, "")
