"""What an event tells of a run and its files. No I/O.

What a run uses is bound when it is first named. What it generates is registered when the run completes.
"""

from dataclasses import replace
from typing import Any

from graph.core.errors import BadUserInput
from graph.domains.data_files.entities import FILE, RUN
from graph.domains.data_files.model import LONGEST_NAME, RunState
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.openlineage.checked import InvalidEvent, Warn
from graph.domains.openlineage.events import NamedDataset, RunEvent
from graph.store.client_input import check_input, possible_key

_ENDS = {"COMPLETE": RunState.COMPLETE, "ABORT": RunState.ABORTED, "FAIL": RunState.FAILED}


def report_of(event: RunEvent, warn: Warn) -> RunReport:
    """What an event reports.

    Args:
        warn: is told what was left out, since it is too long.

    Raises:
        InvalidEvent: A name or text is too long to be stored.
    """
    state = _ENDS.get(event.type, RunState.RUNNING)
    is_complete = state is RunState.COMPLETE
    outputs = [_new_file(each, event.run_id) for each in event.outputs]
    details: dict[str, Any] = {
        "version": event.job_tags.get("version"),
        "producer": event.producer,
        "configuration-hash": event.run_tags.get("configurationHash"),
        "facets": event.facets,
    }
    kept = {name: value for name, value in details.items() if value and _fits(name, value, warn)}
    report = RunReport(
        algorithm=event.job_name,
        run_id=event.run_id,
        version=kept.get("version"),
        namespace=event.job_namespace,
        producer=kept.get("producer"),
        state=state,
        started_at=event.time if event.type == "START" else None,
        ended_at=event.time if state.is_end else None,
        configuration_hash=kept.get("configuration-hash"),
        facets=kept.get("facets", {}),
        used=[_used_file(each) for each in event.inputs],
        generated=outputs if is_complete else (),
        outputs=() if is_complete else [file.name for file in outputs],
    )
    _check("algorithm", report.algorithm)
    _check("namespace", report.namespace)
    return report


def file_of(named: NamedDataset) -> NewFile:
    """The file that a dataset is.

    Raises:
        InvalidEvent: Its name is too long.
    """
    return NewFile(
        name=file_name(named),
        namespace=named.dataset.namespace,
        dataset_version=named.version,
        size=named.size,
        level=named.tags.get("level"),
        product=named.tags.get("product"),
    )


def file_name(named: NamedDataset) -> str:
    """The name of a dataset's file.

    Raises:
        InvalidEvent: It is too long.
    """
    name = named.dataset.file_name
    if possible_key(FILE, name) is None:
        raise InvalidEvent(f"A dataset's namespace and name have more than {LONGEST_NAME} characters: {name[:80]!r}…")
    return name


def _new_file(named: NamedDataset, run_id: str) -> NewFile:
    """An output. Without a version, it is one that no other run has generated."""
    file = file_of(named)
    return file if file.dataset_version else replace(file, metadata={"run": run_id})


def _used_file(named: NamedDataset) -> UsedFile:
    return UsedFile(
        file_name(named),
        namespace=named.dataset.namespace,
        dataset_version=named.version,
        may_be_unknown=True,
    )


def _check(name: str, value: Any) -> None:
    try:
        check_input(RUN, **{name: value})
    except BadUserInput as error:
        raise InvalidEvent(str(error)) from error


def _fits(name: str, value: Any, warn: Warn) -> bool:
    try:
        _check(name, value)
    except InvalidEvent as error:
        warn(f"{error} It is left out.")
        return False
    return True
