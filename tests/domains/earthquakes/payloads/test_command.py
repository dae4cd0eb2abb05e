"""`quakegraph rebuild` rebuilds what `quakegraph ingest` has kept."""

from pathlib import Path

import orjson
import pytest

from tests.domains.earthquakes.ingest.ingests import a_feature, file_of
from tests.processes import quakegraph


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Settings that keep payloads in the working folder, in which two events and a revision are ingested."""
    monkeypatch.chdir(tmp_path)
    settings = {"GRAPH_KEEP_PAYLOADS": "kept"}
    features = [a_feature("us1", updated=1), a_feature("us2", updated=1)]
    for name, some in (("first", features), ("second", [a_feature("us1", updated=2, mag=5.0)])):
        Path(f"{name}.geojson").write_bytes(file_of(some).getvalue())
        assert quakegraph("ingest", f"{name}.geojson", settings=settings).exit_code == 0
    return settings


def exported(store: str) -> list[dict[str, object]]:
    """The events of a store, without the last line, which has the time of the export."""
    lines = quakegraph("export", "-", "--format", "ndjson", "--store", store).stdout.splitlines()
    return [orjson.loads(line) for line in lines[:-1]]


def test_the_catalogue_is_rebuilt_into_another_store(kept: dict[str, str]) -> None:
    result = quakegraph("rebuild", "--from-payloads", "kept", "--store", "sqlite:///rebuilt.db")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "3 versions of events from 2 payloads, in 2 transactions.\n"
    assert exported("sqlite:///rebuilt.db") == exported("sqlite:///quakegraph.db")
    assert len(exported("sqlite:///rebuilt.db")) == 2


def test_a_store_with_events_is_refused_and_a_damaged_payload_named(kept: dict[str, str]) -> None:
    refused = quakegraph("rebuild", "--from-payloads", "kept")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: The store has events: a catalogue is rebuilt into an empty store.")

    [first, _] = sorted(Path("kept").glob("*/*.gz"))
    first.write_bytes(first.read_bytes()[:-1])
    damaged = quakegraph("rebuild", "--from-payloads", "kept", "--store", "sqlite:///rebuilt.db")
    assert (damaged.exit_code, damaged.stdout) == (1, "")
    assert damaged.stderr == f"Error: {first}: it breaks off before its end.\n"
