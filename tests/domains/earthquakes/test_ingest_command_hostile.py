"""`quakegraph ingest` of files that attack its parser: the process lives, and takes what is whole."""

import json
from pathlib import Path
from typing import Any

import orjson

from tests.domains.earthquakes.ingest.ingests import a_feature
from tests.forking import ended

NUMBERS = ["1" * 5000, "-" + "1" * 5000, "9223372036854775808", "18446744073709551616", "-9223372036854775809", "1e400"]
UNREADABLE = "FEATURE_UNREADABLE: Feature {} is unreadable: it holds a number out of range."


def written(folder: Path, name: str, features: list[Any]) -> None:
    """A FeatureCollection; a text such as `@1` in it becomes the number of that place in `NUMBERS`."""
    content = orjson.dumps({"type": "FeatureCollection", "features": features})
    for place, number in enumerate(NUMBERS):
        content = content.replace(b'"@%d"' % place, number.encode())
    (folder / name).write_bytes(content)


def ingested(folder: Path, *arguments: str) -> tuple[int | None, list[str]]:
    """The exit status and the lines of a process of its own."""
    status, output = ended("ingest", *arguments, folder=folder)
    return status, output.splitlines()


def test_numbers_out_of_range_reject_their_features_and_neither_end_the_process_nor_stop_at_their_file(
    tmp_path: Path,
) -> None:
    attacks = [a_feature(f"@{place}") for place in range(len(NUMBERS))]
    written(tmp_path, "bad.geojson", [a_feature("us1"), *attacks, a_feature("us2", felt="@0"), a_feature("us3")])
    written(tmp_path, "good.geojson", [a_feature("us4"), a_feature("us5")])

    assert ingested(tmp_path, "bad.geojson", "good.geojson") == (
        0,
        [
            "bad.geojson: 9 fetched, 2 upserted, 0 revised, 0 skipped, 7 rejected",
            *[f"  (no id): {UNREADABLE.format(position)}" for position in range(2, 7)],
            "  and 2 more",
            "good.geojson: 2 fetched, 2 upserted, 0 revised, 0 skipped, 0 rejected",
        ],
    )

    written(tmp_path, "nothing.geojson", [a_feature("@0")])
    status, lines = ingested(tmp_path, "--json", "nothing.geojson", "good.geojson")
    bad, good = map(json.loads, lines)
    assert (bad["fetched"], bad["rejected"], "error" in bad) == (1, 1, False)
    assert (good["fetched"], good["skipped"], "error" in good) == (2, 2, False)
    assert status == 1, "a file of nothing but these failed"


def test_half_a_surrogate_pair_rejects_its_event_and_is_not_replaced(tmp_path: Path) -> None:
    texts = ["a\ud800", "\udc00a", "\ud800\u0041"]
    features = [
        *[a_feature(text) for text in texts],
        *[a_feature(f"us{place}", url=text) for place, text in enumerate(texts)],
        a_feature("us8", tz="a\ud800"),  # which is not stored
        a_feature("us9", place="\U0001f30b"),
    ]
    (tmp_path / "collection").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    (tmp_path / "lines").write_text("\n".join(map(json.dumps, features)))

    status, lines = ingested(tmp_path, "--json", "collection", "lines")

    for report in map(json.loads, lines):
        assert [(rejection["eventId"], rejection["code"]) for rejection in report["rejections"]] == [
            *[(None, "ID_INVALID")] * 3,
            *[(f"us{place}", "FEATURE_UNREADABLE") for place in range(3)],
        ]
        assert (report["fetched"], report["upserted"] + report["skipped"]) == (8, 2)
    assert (status, len(lines)) == (0, 2)
