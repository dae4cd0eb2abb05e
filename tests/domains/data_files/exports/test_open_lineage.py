"""Events of OpenLineage are what its client's own classes are made of."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.data_files.exports.datasets import OWN_NAMESPACE, Dataset, dataset_version
from graph.domains.data_files.exports.open_lineage import run_events
from graph.domains.data_files.model import RunState
from tests.domains.data_files.exports.graphs import Graph, graphs, names
from tests.domains.data_files.exports.open_lineage_judge import read_run_event


@given(graphs())
def test_every_event_is_read_by_the_classes_of_openlineage(graph: Graph) -> None:
    for run in graph.runs:
        for event in run_events(run, graph.by_version):
            assert read_run_event(event).run.runId == run.run_id


@given(graphs())
def test_a_run_has_one_event_for_its_start_and_one_for_its_end(graph: Graph) -> None:
    ends = {RunState.COMPLETE: ["COMPLETE"], RunState.FAILED: ["FAIL"], RunState.ABORTED: ["ABORT"]}

    for run in graph.runs:
        events = run_events(run, graph.by_version)

        assert [event["eventType"] for event in events] == ["START", *ends.get(run.state, [])]
        assert {UUID(event["run"]["runId"]) for event in events} == {UUID(run.run_id)}


@given(graphs())
def test_the_last_event_names_every_file_of_the_run_in_its_version(graph: Graph) -> None:
    def identified(datasets: list[dict[str, Any]]) -> list[tuple[str, str]]:
        return [
            (Dataset(each["namespace"], each["name"]).file_name, each["facets"]["version"]["datasetVersion"])
            for each in datasets
        ]

    known = graph.by_version
    for run in graph.runs:
        last = run_events(run, known)[-1]

        assert identified(last["inputs"]) == [(each.name, dataset_version(known[each])) for each in run.used]
        if run.state.is_end:
            generated = [(each.name, dataset_version(known[each])) for each in run.generated]
            assert identified(last["outputs"]) == generated


@given(names)
def test_a_file_comes_back_by_its_dataset(name: str) -> None:
    assert Dataset.of(name).file_name == name


@given(names, names)
def test_a_dataset_comes_back_by_its_file(namespace: str, name: str) -> None:
    dataset = Dataset(namespace, name)

    assert Dataset.of(dataset.file_name) == dataset


@given(st.text("%#235q", max_size=8))
def test_every_name_is_the_name_of_one_dataset(name: str) -> None:
    assert Dataset.of(name).file_name == name


@pytest.mark.parametrize(
    ("dataset", "file_name"),
    [
        (Dataset(OWN_NAMESPACE, "LIBERA_L1B.nc"), "LIBERA_L1B.nc"),
        (Dataset("s3://archive", "2024/raw.nc"), "s3://archive#2024/raw.nc"),
        (Dataset("a#b%c", "d#e"), "a%23b%25c#d#e"),
    ],
)
def test_a_namespace_stands_before_the_name_of_a_file(dataset: Dataset, file_name: str) -> None:
    assert dataset.file_name == file_name
    assert Dataset.of(file_name) == dataset
