"""A run goes out as events of OpenLineage, and each name of a file as the name of one dataset."""

from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.data_files.datasets import OWN_NAMESPACE, Dataset, dataset_version
from graph.domains.data_files.model import RunState
from graph.domains.data_files.references import Version
from graph.domains.provenance_exports.open_lineage import PRODUCER, run_events
from tests.domains.provenance_exports.graphs import RUN_ID, Graph, a_revision, a_run, graphs, names


def test_the_events_of_a_run_tell_all_that_is_known() -> None:
    raw = a_revision("raw.nc", 2, level="L0", size=7)
    made = a_revision("s3://archive#map.nc", dataset_version="v3")
    facets = {"nominalTime": {"nominalStartTime": "2024-01-01T00:00:00Z"}, "manifest": "M.json"}
    told = {"version": "1.2", "namespace": "airflow", "configuration_hash": "ab", "facets": facets}
    run = a_run(["raw.nc@2"], ["s3://archive#map.nc@1"], started_at="2024-01-05 10:00:00", **told)

    start, end = run_events(run, {raw.version: raw, made.version: made})

    def facet(name: str, **content: Any) -> dict[str, Any]:
        schema = f"https://openlineage.io/spec/facets/{name}.json#/$defs/{name.partition('/')[2]}"
        return {"_producer": PRODUCER, "_schemaURL": schema, **content}

    def tags(kind: str, key: str, value: str) -> dict[str, Any]:
        return facet(f"1-0-0/Tags{kind}Facet", tags=[{"key": key, "value": value, "source": "quakegraph"}])

    expected = {
        "eventType": "START",
        "eventTime": "2024-01-05T10:00:00Z",
        "run": {
            "runId": RUN_ID,
            "facets": {
                "nominalTime": facet("1-0-1/NominalTimeRunFacet", nominalStartTime="2024-01-01T00:00:00Z"),
                "tags": tags("Run", "configurationHash", "ab"),
            },
        },
        "job": {"namespace": "airflow", "name": "calibrate", "facets": {"tags": tags("Job", "version", "1.2")}},
        "inputs": [
            {
                "namespace": "quakegraph",
                "name": "raw.nc",
                "facets": {
                    "version": facet("1-0-1/DatasetVersionDatasetFacet", datasetVersion="quakegraph:2"),
                    "tags": tags("Dataset", "level", "L0"),
                },
                "inputFacets": {"inputStatistics": facet("1-0-0/InputStatisticsInputDatasetFacet", size=7)},
            }
        ],
        "outputs": [],
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
    assert start == expected
    version = facet("1-0-1/DatasetVersionDatasetFacet", datasetVersion="v3")
    output = {"namespace": "s3://archive", "name": "map.nc", "facets": {"version": version}, "outputFacets": {}}
    assert end == {**expected, "eventType": "COMPLETE", "eventTime": "2024-01-05T12:00:00Z", "outputs": [output]}


@given(graphs())
def test_a_run_has_an_event_for_its_start_and_one_for_its_end_with_every_file_in_its_version(graph: Graph) -> None:
    known = graph.by_version

    def identified(datasets: list[dict[str, Any]]) -> list[tuple[str, str]]:
        return [
            (Dataset(each["namespace"], each["name"]).file_name, each["facets"]["version"]["datasetVersion"])
            for each in datasets
        ]

    def told(versions: list[Version]) -> list[tuple[str, str]]:
        return [(each.name, dataset_version(known[each])) for each in versions]

    ends = {RunState.COMPLETE: ["COMPLETE"], RunState.FAILED: ["FAIL"], RunState.ABORTED: ["ABORT"]}
    for run in graph.runs:
        events = run_events(run, known)

        assert [event["eventType"] for event in events] == ["START", *ends.get(run.state, [])]
        assert {UUID(event["run"]["runId"]) for event in events} == {UUID(run.run_id)}
        assert identified(events[-1]["inputs"]) == told(run.used)
        if run.state.is_end:
            assert identified(events[-1]["outputs"]) == told(run.generated)


@given(names, names, names | st.text("%#235q", max_size=8))
def test_a_dataset_comes_back_by_its_file_and_a_file_by_its_dataset(namespace: str, name: str, file: str) -> None:
    dataset = Dataset(namespace, name)

    assert Dataset.of(dataset.file_name) == dataset
    assert Dataset.of(file).file_name == file


def test_a_namespace_stands_before_the_name_of_a_file() -> None:
    for dataset, file_name in (
        (Dataset(OWN_NAMESPACE, "LIBERA_L1B.nc"), "LIBERA_L1B.nc"),
        (Dataset("s3://archive", "2024/raw.nc"), "s3://archive#2024/raw.nc"),
        (Dataset("a#b%c", "d#e"), "a%23b%25c#d#e"),
    ):
        assert dataset.file_name == file_name
        assert Dataset.of(file_name) == dataset
