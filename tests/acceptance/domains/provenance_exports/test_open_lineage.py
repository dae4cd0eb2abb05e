"""Events of a run are read by the classes that OpenLineage generates from its JSON Schema.

They refuse a missing or an unknown property, a run id that is no UUID, and a time that is none. The schema itself is in
no package.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from hypothesis import given
from openlineage.client import event_v2, facet_v2
from openlineage.client.generated import parent_run

from graph.domains.provenance_exports.open_lineage import run_events
from tests.domains.provenance_exports.graphs import Graph, graphs

FACETS: Mapping[str, Any] = {
    "version": facet_v2.dataset_version_dataset.DatasetVersionDatasetFacet,
    "inputStatistics": facet_v2.input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
    "outputStatistics": facet_v2.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
    "nominalTime": facet_v2.nominal_time_run.NominalTimeRunFacet,
    "processing_engine": facet_v2.processing_engine_run.ProcessingEngineRunFacet,
}
TAGS: Mapping[type, tuple[Any, Any]] = {
    event_v2.Run: (facet_v2.tags_run.TagsRunFacet, facet_v2.tags_run.TagsRunFacetFields),
    event_v2.Job: (facet_v2.tags_job.TagsJobFacet, facet_v2.tags_job.TagsJobFacetFields),
    event_v2.Dataset: (facet_v2.tags_dataset.TagsDatasetFacet, facet_v2.tags_dataset.TagsDatasetFacetFields),
}


@given(graphs())
def test_every_event_is_read_by_the_classes_of_openlineage(graph: Graph) -> None:
    for run in graph.runs:
        for event in run_events(run, graph.by_version):
            assert read_run_event(event).run.runId == run.run_id


def read_run_event(event: dict[str, Any]) -> event_v2.RunEvent:
    """The event as an object; an error if it is none."""
    given = dict(event)
    read = event_v2.RunEvent(
        eventType=event_v2.RunState(given.pop("eventType")),
        eventTime=given.pop("eventTime"),
        run=_with_facets(event_v2.Run, given.pop("run")),
        job=_with_facets(event_v2.Job, given.pop("job")),
        inputs=[_dataset(event_v2.InputDataset, each, "inputFacets") for each in given.pop("inputs")],
        outputs=[_dataset(event_v2.OutputDataset, each, "outputFacets") for each in given.pop("outputs")],
        producer=_uri(given.pop("producer")),
    )
    assert given.pop("schemaURL") == read.schemaURL
    assert not given
    return read


def _dataset(of_class: Any, given: dict[str, Any], own: str) -> Any:
    facets = {
        kind: {name: _facet(name, each, event_v2.Dataset) for name, each in given[kind].items()}
        for kind in ("facets", own)
    }
    return of_class(**{**given, **facets})


def _with_facets(of_class: Any, given: dict[str, Any]) -> Any:
    facets = {name: _facet(name, each, of_class) for name, each in given["facets"].items()}
    return of_class(**{**given, "facets": facets})


def _facet(name: str, given: dict[str, Any], owner: type) -> Any:
    content = dict(given)
    producer, schema = _uri(content.pop("_producer")), content.pop("_schemaURL")
    if name == "tags":
        of_class, field = TAGS[owner]
        facet = of_class(tags=[field(**each) for each in content["tags"]], producer=producer)
    elif name == "parent":
        root = content.pop("root", None)
        facet = parent_run.ParentRunFacet(
            run=parent_run.Run(**content.pop("run")),
            job=parent_run.Job(**content.pop("job")),
            root=root and parent_run.Root(parent_run.RootRun(**root["run"]), parent_run.RootJob(**root["job"])),
            producer=producer,
        )
        assert not content
    else:
        facet = FACETS[name](**content, producer=producer)
    assert schema == facet._schemaURL
    return facet


def _uri(text: str) -> str:
    assert urlsplit(text).scheme, f"{text!r} is no URI"
    return text
