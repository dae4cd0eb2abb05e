"""Services with the same files: `both` with and without compiled functions, and `archive`, to read from."""

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.service import Service, running
from tests.settings import Settings
from tests.store.samples import HeldClock

RUN_ID = "00000000-0000-4000-8000-000000000001"
FILES: list[dict[str, Any]] = [
    {
        "name": "L0_CONS_file.PDS",
        "level": "L0",
        "product": "CR",
        "archiveTime": "2024-01-01T00:01:00Z",
        "algorithmVersion": "1.0.0",
        "checksum": "a" * 32,
        "size": 123.0,  # as a program writes it that has one type of numbers
        "url": "https://example.org/L0_CONS_file.PDS",
        "namespace": "archive",
        "metadata": {"x": [1, None, {"y": True}]},
        "sortable": [
            {
                "type": "APID11",
                "applicableDates": ["2024-01-01", "2024-01-02"],
                "firstPacketTime": "2024-01-01T23:00:00.5Z",
                "missingPacketCount": 3,
                "filledGapCount": 0,
            }
        ],
        "additional": [{"identifier": "PDS", "attributes": {"filename": f"{at}.PDS"}} for at in range(2)],
    },
    {"name": "cal.nc", "level": "CAL", "calibrations": [{"calibrates": "L0", "calibrationVersion": "1.0.0"}]},
    {"name": "cal2.nc", "level": "CAL", "calibrations": [{"calibrates": "L0", "calibrationVersion": "1.1.0"}]},
]
RUN: dict[str, Any] = {
    "runId": RUN_ID,
    "algorithm": "l1a-rad",
    "version": "2.0.0",
    "startedAt": "2024-01-03T00:00:00Z",
    "endedAt": "2024-01-03T01:00:00Z",
    "used": [{"name": "L0_CONS_file.PDS"}, {"name": "cal.nc"}],
    "generated": [
        {"name": "l1a.nc", "level": "L1A", "product": "RAD", "applicableDates": ["2024-01-01"], "checksum": "b" * 64}
    ],
}
REGISTER = "mutation($files: [DataFileInput!]!) { registerFiles(input: {files: $files}) { registered rejected } }"
RECORD = "mutation($run: RecordRunInput!) { recordRun(input: $run) { run { runId } } }"


def serving_files(store: Path, *, compiled: bool = True) -> AbstractContextManager[Service]:
    """A service of data files on a SQLite file."""
    return running(Settings(store=f"sqlite:///{store}", compiled=compiled), clock=HeldClock())


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Service]]:
    """Two services with the same files: with compiled functions, and without."""
    folder = tmp_path_factory.mktemp("files")
    first = folder / "first.db"
    with serving_files(first, compiled=True) as service:
        assert service.ask(REGISTER, {"files": FILES})["registerFiles"] == {"registered": 3, "rejected": 0}
        service.ask(REGISTER, {"files": [{**FILES[0], "checksum": "c" * 32}]})
        service.ask(RECORD, {"run": RUN})
    second = folder / "second.db"
    shutil.copy(first, second)
    with serving_files(first, compiled=True) as compiled, serving_files(second, compiled=False) as plain:
        yield compiled, plain


@pytest.fixture
def archive(both: tuple[Service, Service]) -> Service:
    """A service with the files, for tests that only read."""
    return both[0]
