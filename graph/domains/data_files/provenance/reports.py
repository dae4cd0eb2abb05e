"""What is told of a run. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graph.domains.data_files.model import RunState
from graph.domains.data_files.new_files import NewFile


@dataclass(frozen=True, slots=True)
class UsedFile:
    """A file that a run used."""

    name: str
    revision: int | None = None  # None for the latest one, as of now
    namespace: str | None = None
    dataset_version: str | None = None  # of OpenLineage, in place of the revision
    may_be_unknown: bool = False  # whether it may be used before it is registered
    new: NewFile | None = None  # registers it with the run, if it is unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """A run, or what is told of one so far. Several reports of the same run complete each other."""

    algorithm: str
    run_id: str | None = None  # a UUID; None for a new run
    version: str | None = None
    namespace: str | None = None
    producer: str | None = None
    state: RunState = RunState.COMPLETE
    started_at: datetime | None = None
    ended_at: datetime | None = None
    configuration_hash: str | None = None
    facets: Mapping[str, Any] = field(default_factory=dict)
    used: Sequence[UsedFile] = ()
    generated: Sequence[NewFile] = ()
    is_own: bool = False  # whether this service carries it out
    outputs: Sequence[str] = ()  # names of files, of each of which it generates a new revision when it completes
