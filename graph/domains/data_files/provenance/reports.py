"""Reports of a run, and the state of the run after each report. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from graph.core.described import described, optional, value
from graph.domains.data_files.model import RunState
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.times import time_text
from graph.store.entity import Item

_ORDER = {state.value: at for at, state in enumerate(RunState)}


@value
class UsedFile:
    """A revision that a run used."""

    name: str = described("The name of a registered file.")
    revision: int | None = optional("The number of the revision; by default the latest one, as of now.")
    namespace: str | None = None
    dataset_version: str | None = None  # of OpenLineage, in place of the revision
    may_be_unknown: bool = False  # whether it may be used before it is registered
    new: NewFile | None = None  # registers it with the run, if it is unknown


@value
class RunReport:
    """A run, or what is known of one so far. Several reports of the same run complete each other."""

    algorithm: str = described("The name of the algorithm.")
    version: str | None = optional("The version of the algorithm.")
    run_id: str | None = optional(
        "A UUID, or the run's global id. A run that is recorded again with the same id is completed, never doubled."
    )
    state: RunState = described("How it went.", default=RunState.COMPLETE)
    started_at: datetime | None = optional("When it began.")
    ended_at: datetime | None = optional("When it ended.")
    configuration_hash: str | None = optional("The hash of its configuration.")
    used: Sequence[UsedFile] = described("What it used, at most 1,000.", default=())
    generated: Sequence[NewFile] = described(
        "What it generated. What is not registered as it is, is registered.", default=()
    )
    namespace: str | None = None
    producer: str | None = None
    facets: Mapping[str, Any] = field(default_factory=dict)
    is_own: bool = False  # whether this service carries it out
    outputs: Sequence[str] = ()  # names of files, of each of which it generates a new revision when it completes


def run_after(before: Item | None, report: RunReport, run_id: str, *, at: str) -> Item:
    """What is told of a run, apart from its files. Reports that come twice, or in another order, give the same.

    Where they contradict each other, the first one counts.

    Args:
        before: the run as it is; None for a new one.
        at: the time, as the table has it.
    """
    known: Mapping[str, Any] = before or {"used": [], "generated": [], "outputs": [], "reports": [], "recorded-at": at}
    given = {
        "algorithm": report.algorithm,
        "version": report.version,
        "namespace": report.namespace,
        "producer": report.producer,
        "configuration-hash": report.configuration_hash,
    }
    run = {"run-id": run_id, **{name: value for name, value in given.items() if value is not None}, **known}
    state = run["state"] = max(known.get("state", report.state.value), report.state.value, key=_ORDER.__getitem__)
    if report.started_at:
        started_at = time_text(report.started_at)
        run["started-at"] = min(known.get("started-at", started_at), started_at)
    # A run has ended when the reports of its state say so, and not when one says that another state replaced.
    ends = [known["ended-at"]] if known.get("state") == state and "ended-at" in known else []
    if report.ended_at and report.state.value == state:
        ends.append(time_text(report.ended_at))
    run.pop("ended-at", None)
    if ends:
        run["ended-at"] = max(ends)
    if RunState(run["state"]).is_end:
        run.pop("open-since", None)
    elif report.is_own:
        run["open-since"] = run.get("started-at", at)
    if report.facets:
        run["facets"] = {**report.facets, **known.get("facets", {})}
    run["outputs"] = list(dict.fromkeys((*known["outputs"], *report.outputs)))
    return run
