"""The exports as fields of the graph."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.domains.data_files.openlineage.builders import dataset, run_event, run_id
from tests.service import Service, running
from tests.settings import Settings

REGISTER = """mutation { registerFiles(input: {files: [{
  name: "rad.nc", level: "L1B", product: "RAD", size: 7, checksum: "d41d8cd98f00b204e9800998ecf8427e",
  sortable: [{applicableDates: ["2024-01-01"], firstPacketTime: "2024-01-01T03:00:00Z",
              lastPacketTime: "2024-01-01T04:00:00Z"}] }]}) { registered } }"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service where a run has made a map of a registered file."""
    with running(Settings(store=f"sqlite:///{tmp_path / 'files.db'}")) as service:
        service.ask(REGISTER)
        event = run_event(1, "COMPLETE", [dataset("rad.nc", namespace="quakegraph")], ["map.nc"])
        assert service.http.post("/api/v1/lineage", json=event).status_code == 200
        yield service


def test_lineages_runs_and_revisions_go_out_in_the_formats_of_others(service: Service) -> None:
    asked = service.ask(
        f"""{{
          dataFile(name: "rad.nc") {{
            lineage(direction: DOWNSTREAM) {{ provJson }} revisions(first: 1) {{ nodes {{ stacItem }} }} }}
          made: dataFile(name: "s3://archive#map.nc") {{ revisions(first: 1) {{ nodes {{ stacItem }} }} }}
          run(runId: "{run_id(1)}") {{ openLineage }}
        }}"""
    )

    prov = asked["dataFile"]["lineage"]["provJson"]
    made = "quakegraph:file/s3%3A%2F%2Farchive%23map.nc@1"
    assert prov["entity"].keys() == {"quakegraph:file/rad.nc@1", made}
    assert (prov["agent"].keys(), prov["activity"].keys()) == (
        {"quakegraph:algorithm/calibrate"},
        {f"quakegraph:run/{run_id(1)}"},
    )
    assert len(prov["wasDerivedFrom"]) == 1
    start, end = asked["run"]["openLineage"]
    assert [each["name"] for each in start["inputs"]] == ["rad.nc"]
    assert [(each["namespace"], each["name"]) for each in end["outputs"]] == [("s3://archive", "map.nc")]
    (item,) = [node["stacItem"] for node in asked["dataFile"]["revisions"]["nodes"]]
    assert (item["properties"]["processing:level"], item["assets"]["data"]["file:size"]) == ("L1B", 7)
    assert item["properties"]["start_datetime"] == "2024-01-01T03:00:00Z"  # of its packets, more exact than its day
    (item,) = [node["stacItem"] for node in asked["made"]["revisions"]["nodes"]]
    assert [link["href"] for link in item["links"] if link["rel"] == "derived_from"] == ["./rad.nc@1.json"]
