"""The exports as fields of the graph, each judged like any other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.domains.data_files.exports.open_lineage_judge import read_run_event
from tests.domains.data_files.exports.stac_judge import file, processing, read_item
from tests.domains.data_files.exports.test_prov_json import read, validator
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


def test_a_lineage_is_a_document_of_prov(service: Service) -> None:
    query = '{ dataFile(name: "rad.nc") { lineage(direction: DOWNSTREAM) { provJson } } }'

    document = service.ask(query)["dataFile"]["lineage"]["provJson"]

    validator().validate(document)
    assert sorted(str(each.identifier) for each in read(document).get_records() if each.is_element()) == [
        "quakegraph:algorithm/calibrate",
        "quakegraph:file/rad.nc@1",
        "quakegraph:file/s3%3A%2F%2Farchive%23map.nc@1",
        f"quakegraph:run/{run_id(1)}",
    ]
    assert len(document["wasDerivedFrom"]) == 1


def test_a_run_is_events_of_openlineage(service: Service) -> None:
    events = service.ask(f'{{ run(runId: "{run_id(1)}") {{ openLineage }} }}')["run"]["openLineage"]

    start, end = map(read_run_event, events)
    assert [each.name for each in start.inputs or ()] == ["rad.nc"]
    assert [(each.namespace, each.name) for each in end.outputs or ()] == [("s3://archive", "map.nc")]


def test_a_revision_is_an_item_of_stac(service: Service) -> None:
    query = '{ dataFile(name: "rad.nc") { revisions(first: 1) { nodes { stacItem } } } }'

    (node,) = service.ask(query)["dataFile"]["revisions"]["nodes"]

    item = read_item(node["stacItem"])
    assert (processing(item).level, file(item).size) == ("L1B", 7)
    assert item.common_metadata.start_datetime is not None
    assert item.common_metadata.start_datetime.isoformat() == "2024-01-01T03:00:00+00:00"


def test_an_item_leads_to_what_its_file_was_made_from(service: Service) -> None:
    query = '{ dataFile(name: "s3://archive#map.nc") { revisions(first: 1) { nodes { stacItem } } } }'

    (node,) = service.ask(query)["dataFile"]["revisions"]["nodes"]

    (link,) = read_item(node["stacItem"]).get_links("derived_from")
    assert link.target == "./rad.nc@1.json"
