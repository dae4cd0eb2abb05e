"""The events of OpenLineage, read and checked. Unknown properties and facets are ignored, as the standard wants it.

Names are needed: of the run, the job and the datasets. Everything else is a detail, see `checked`.

Source: https://openlineage.io/spec/2-0-2/OpenLineage.json
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graph.domains.data_files.datasets import SOFTWARE, Dataset
from graph.domains.data_files.model import LONGEST_NAME
from graph.domains.openlineage.checked import Checked, Warn

EVENT_TYPES = ("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER")

Facets = Mapping[str, Checked]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDataset:
    """A dataset, and what the event tells of it."""

    dataset: Dataset
    version: str | None = None
    size: int | None = None  # bytes
    tags: Mapping[str, str] = field(default_factory=dict)  # those of this service


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """What a scheduler tells of a run."""

    type: str
    time: datetime | None  # unless it can be read
    producer: str | None
    run_id: str
    job_namespace: str
    job_name: str
    inputs: Sequence[NamedDataset]
    outputs: Sequence[NamedDataset]
    facets: Mapping[str, Any]  # those of the run that are kept
    run_tags: Mapping[str, str]
    job_tags: Mapping[str, str]


def read_event(value: Any, warn: Warn) -> RunEvent | NamedDataset | None:
    """What an event tells, which is a value of JSON: of a run, or that a dataset exists.

    None of a job and its usual datasets. No run of it is known, so it tells nothing of files.

    Args:
        warn: is told what was left out or repaired.

    Raises:
        InvalidEvent: It is none.
    """
    event = Checked(value, "event", warn)
    if "schemaURL" in event:
        event.detail(lambda of: of.uri("schemaURL"))
    producer = event.detail(lambda of: of.uri("producer"))
    time = event.detail(lambda of: of.time("eventTime"))
    if "run" in event:
        return _run_event(event, producer, time)
    if "dataset" in event:
        return _dataset(event.object("dataset"))
    if "job" in event:
        _job(event.object("job"))
        for kind in ("input", "output"):
            for each in event.objects(f"{kind}s"):
                _dataset(each, f"{kind}Facets")
        return None
    raise event.refuse("run", "must be there, or `dataset` or `job`")


def _run_event(event: Checked, producer: str | None, time: datetime | None) -> RunEvent:
    type_ = (event.optional_text("eventType") or "OTHER").upper()
    if type_ not in EVENT_TYPES:
        raise event.refuse("eventType", f"must be one of {', '.join(EVENT_TYPES)}")
    run, job = event.object("run"), event.object("job")
    namespace, name = _job(job)
    facets = run.facets()
    return RunEvent(
        type=type_,
        time=time,
        producer=producer,
        run_id=run.uuid("runId"),
        job_namespace=namespace,
        job_name=name,
        inputs=[_dataset(each, "inputFacets") for each in event.objects("inputs")],
        outputs=[_dataset(each, "outputFacets") for each in event.objects("outputs")],
        facets={name: kept for name, read in _KEPT.items() if name in facets and (kept := facets[name].detail(read))},
        run_tags=_tags(facets),
        job_tags=_tags(job.facets()),
    )


def _job(job: Checked) -> tuple[str, str]:
    return job.text("namespace"), job.text("name")


def _dataset(dataset: Checked, own: str | None = None) -> NamedDataset:
    """A dataset with its facets, and those that it has as an input or output."""
    facets = dataset.facets()
    more = dataset.facets(own) if own else {}
    version = facets["version"].detail(_dataset_version) if "version" in facets else None
    sizes = [
        more[each].detail(lambda of: of.size("size"))
        for each in ("inputStatistics", "outputStatistics")
        if each in more
    ]
    return NamedDataset(
        dataset=Dataset(dataset.text("namespace"), dataset.text("name")),
        version=version,
        size=next((size for size in sizes if size is not None), None),
        tags=_tags(facets),
    )


def _tags(facets: Facets) -> dict[str, str]:
    """The tags that this service has written."""
    return (facets["tags"].detail(_own_tags) if "tags" in facets else None) or {}


def _own_tags(facet: Checked) -> dict[str, str]:
    tags = facet.objects("tags")
    return {tag.text("key"): tag.text("value") for tag in tags if tag.optional_text("source") == SOFTWARE}


def _dataset_version(facet: Checked) -> str:
    version = facet.text("datasetVersion")
    if len(version) > LONGEST_NAME:
        raise facet.refuse("datasetVersion", f"must have at most {LONGEST_NAME} characters")
    return version


def _nominal_time(facet: Checked) -> dict[str, Any]:
    times = {"nominalStartTime": facet.time("nominalStartTime")}
    if "nominalEndTime" in facet and (end := facet.detail(lambda of: of.time("nominalEndTime"))):
        times["nominalEndTime"] = end
    return {name: time.isoformat() for name, time in times.items()}


def _parent(facet: Checked) -> dict[str, Any]:
    root = facet.detail(lambda of: _run_and_job(of.object("root"))) if "root" in facet else None
    return {**_run_and_job(facet), **({"root": root} if root else {})}


def _run_and_job(of: Checked) -> dict[str, Any]:
    namespace, name = _job(of.object("job"))
    return {"run": {"runId": of.object("run").uuid("runId")}, "job": {"namespace": namespace, "name": name}}


def _processing_engine(facet: Checked) -> dict[str, Any]:
    name = facet.optional_text("name")
    return {"version": facet.text("version"), **({"name": name} if name else {})}


_KEPT = {"nominalTime": _nominal_time, "parent": _parent, "processing_engine": _processing_engine}
"""The facets of a run that are kept, and what of them."""
