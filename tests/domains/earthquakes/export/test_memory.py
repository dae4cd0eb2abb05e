"""How much memory an export takes does not depend on its length."""

import shutil
from pathlib import Path

import httpx
import pytest

from tests.bearers import bearer
from tests.processes import TIMEOUT_S, serving

# Allocators keep what was freed: pyarrow's pools for a while, and glibc in an arena for each thread.
ALLOCATORS = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
MOST_GROWTH = 12 * 1024  # kB; the longest answers have 33 MB more than the short ones


def peak(pid: int) -> int:
    """The largest resident set of a process so far, kB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


@pytest.mark.parametrize("name", ["ndjson", "csv", "geojson", "parquet", "arrow"])
def test_a_long_export_takes_no_more_memory_than_a_short_one(tmp_path: Path, dense_file: Path, name: str) -> None:
    shutil.copy(dense_file, tmp_path / "dense.db")
    with serving("--store", "sqlite:///dense.db", folder=tmp_path, settings=ALLOCATORS) as server:
        url = server.url.removesuffix("/graphql")
        with httpx.Client(base_url=url, headers=bearer(), timeout=TIMEOUT_S, trust_env=False) as http:

            def export(end: str) -> int:
                with http.stream("GET", f"/export/events.{name}", params={"endTime": end}) as answer:
                    assert answer.status_code == 200
                    return sum(map(len, answer.iter_raw()))

            short = export("2020-01-20T00:00:00Z")  # 19,000 events
            before = peak(server.process.pid)
            whole = export("2021-01-01T00:00:00Z")  # 60,000 events
            assert peak(server.process.pid) - before < MOST_GROWTH

    assert whole > 2.5 * short
