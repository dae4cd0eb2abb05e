"""A run as events of OpenLineage: its start and, if it has ended, its end.

Datasets have the names and namespaces with which they came in. Sent to another service, the events make the same
lineage there.

Source: https://openlineage.io/spec/2-0-2/OpenLineage.json
"""

from collections.abc import Mapping
from typing import Any

from graph.domains.data_files.datasets import OWN_NAMESPACE, SOFTWARE, Dataset, dataset_version
from graph.domains.data_files.model import FileRevision, Run, RunState
from graph.domains.data_files.references import Version
from graph.domains.provenance_exports.names import IRI, date_time

PRODUCER = f"{IRI}exports"
SPECIFICATION = "https://openlineage.io/spec"
RUN_EVENT = f"{SPECIFICATION}/2-0-2/OpenLineage.json#/$defs/RunEvent"

END_EVENTS = {RunState.COMPLETE: "COMPLETE", RunState.ABORTED: "ABORT", RunState.FAILED: "FAIL"}

_FACETS = {
    "version": "1-0-1/DatasetVersionDatasetFacet",
    "inputStatistics": "1-0-0/InputStatisticsInputDatasetFacet",
    "outputStatistics": "1-0-2/OutputStatisticsOutputDatasetFacet",
    "nominalTime": "1-0-1/NominalTimeRunFacet",
    "parent": "1-2-0/ParentRunFacet",
    "processing_engine": "1-1-1/ProcessingEngineRunFacet",
}
_TAGS = {kind: f"1-0-0/Tags{kind}Facet" for kind in ("Dataset", "Job", "Run")}

Object = dict[str, Any]


def run_events(run: Run, revisions: Mapping[Version, FileRevision]) -> list[Object]:
    """The events of a run.

    Args:
        run: the run.
        revisions: those that it used and generated. What is missing here is left out.
    """
    used = [revisions[each] for each in run.used if each in revisions]
    generated = [revisions[each] for each in run.generated if each in revisions]
    inputs = [{**_dataset(each), "inputFacets": _statistics("inputStatistics", each)} for each in used]
    outputs = [{**_dataset(each), "outputFacets": _statistics("outputStatistics", each)} for each in generated]
    start = {**_event(run), "eventType": "START", "eventTime": date_time(run.started_at or run.recorded_at)}
    start |= {"inputs": inputs, "outputs": []}
    if not run.state.is_end:
        return [start]
    ended_at = date_time(run.ended_at or run.recorded_at)
    return [
        start,
        {**start, "eventType": END_EVENTS[run.state], "eventTime": ended_at, "outputs": outputs},
    ]


def _event(run: Run) -> Object:
    known = run.facets or {}  # others are not of OpenLineage
    facets = {name: _facet(_FACETS[name], **content) for name, content in known.items() if name in _FACETS}
    return {
        "run": {"runId": run.run_id, "facets": facets | _tags("Run", configurationHash=run.configuration_hash)},
        "job": {
            "namespace": run.namespace or OWN_NAMESPACE,
            "name": run.algorithm,
            "facets": _tags("Job", version=run.version),
        },
        "producer": run.producer or PRODUCER,
        "schemaURL": RUN_EVENT,
    }


def _dataset(revision: FileRevision) -> Object:
    namespace, name = Dataset.of(revision.name)
    version = _facet(_FACETS["version"], datasetVersion=dataset_version(revision))
    tags = _tags("Dataset", level=revision.level, product=revision.product)
    return {"namespace": namespace, "name": name, "facets": {"version": version, **tags}}


def _statistics(name: str, revision: FileRevision) -> Object:
    return {} if revision.size is None else {name: _facet(_FACETS[name], size=revision.size)}


def _tags(kind: str, **values: str | None) -> Object:
    """What OpenLineage has no facet for. It is marked as this service's own."""
    tags = [{"key": key, "value": value, "source": SOFTWARE} for key, value in values.items() if value is not None]
    return {"tags": _facet(_TAGS[kind], tags=tags)} if tags else {}


def _facet(schema: str, **content: Any) -> Object:
    name = schema.rpartition("/")[2]
    return {
        "_producer": PRODUCER,
        "_schemaURL": f"{SPECIFICATION}/facets/{schema}.json#/$defs/{name}",
        **content,
    }
