"""Our own provenance: each payload of the catalogue is a data file, and its ingest is a run that uses it.

The run has the payload's id. A file that is read bit by bit is registered when its hash is known: at the end.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from graph import __version__
from graph.core.days import datetime_of
from graph.domains.data_files.model import DataFile, Run, RunState
from graph.domains.data_files.new_files import NewFile, SortableMetadata
from graph.domains.data_files.provenance.attempt import Expected
from graph.domains.data_files.provenance.recording import Runs
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.domains.data_files.reading import DataFiles
from graph.domains.earthquakes.ingest.payload import ANY_FILE, GEOJSON, JSON
from graph.domains.payloads.model import CANCELLED, IngestEnding, Payload
from graph.domains.payloads.versions import PayloadVersions

LEVEL = "L0"


class _Kind(NamedTuple):
    """What the files of payloads of a media type are called."""

    begins: str
    ends: str
    product: str

    def name(self, payload_id: str) -> str:
        """The file of a payload."""
        return f"{self.begins}{payload_id}{self.ends}"


_KINDS = {
    GEOJSON: _Kind("usgs-", ".geojson", "USGS"),
    ANY_FILE: _Kind("file-", ".geojson", "USGS"),  # in the form of USGS's feeds
    JSON: _Kind("events-", ".json", "EVENTS"),
}


def payload_of(name: str) -> str | None:
    """The id of the payload whose data file has this name; None if it is no such name."""
    for kind in _KINDS.values():
        if name.startswith(kind.begins) and name.endswith(kind.ends):
            return name.removeprefix(kind.begins).removesuffix(kind.ends) or None
    return None


class IngestRun:
    """Records the ingest of a payload as a run, which registers its file.

    The id of a payload is random, so nothing is looked for before it is written.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._recorded: Run | None = None

    async def received(self, payload: Payload) -> None:
        """Register a payload, and record that its ingest runs.

        Raises:
            DatabaseUnavailable: It may be registered. To do it again is safe.
        """
        self._recorded = await self._runs.record(_report(payload, RunState.RUNNING), Expected(None))

    async def ended(self, payload: Payload, ending: IngestEnding) -> None:
        """Record how its ingest ended.

        Raises:
            DatabaseUnavailable: As `received`.
        """
        expected = Expected(self._recorded.item) if self._recorded else None
        await self._runs.record(_report(payload, _state_after(ending), ended_at=ending.at), expected)


def _state_after(ending: IngestEnding) -> RunState:
    if ending.error is None:
        return RunState.COMPLETE
    return RunState.ABORTED if ending.error == CANCELLED else RunState.FAILED


def _report(payload: Payload, state: RunState, *, ended_at: int | None = None) -> RunReport:
    """A report of a payload's ingest, which has used its file as soon as that is known."""
    file = _file_of(payload)
    return RunReport(
        algorithm=payload.route.strip("/").replace("/", "-"),
        run_id=payload.payload_id,
        version=__version__,
        state=state,
        is_own=True,
        started_at=datetime_of(payload.received_at),
        ended_at=None if ended_at is None else datetime_of(ended_at),
        used=[UsedFile(file.name, new=file)] if payload.sha256 else [],
    )


def _file_of(payload: Payload) -> NewFile:
    received = datetime_of(payload.received_at)
    kind = _KINDS[payload.media_type]
    return NewFile(
        name=kind.name(payload.payload_id),
        level=LEVEL,
        product=kind.product,
        archive_time=received,
        checksum=payload.sha256,
        size=payload.size,
        url=payload.url,
        sortable=[SortableMetadata(applicable_dates=[received.date()])],
    )


async def files_of_changes(
    files: DataFiles, versions: PayloadVersions, changes: Iterable[int]
) -> Mapping[int, DataFile]:
    """Number of a change → the file of its payload, where that is known. It takes two readings."""
    payloads = await versions.payloads_of(changes)
    names = [kind.name(payload_id) for payload_id in set(payloads.values()) for kind in _KINDS.values()]
    found = await files.own_by_name(names) if names else {}
    by_payload = {payload_of(name): file for name, file in found.items()}
    return {number: by_payload[each] for number, each in payloads.items() if each in by_payload}
