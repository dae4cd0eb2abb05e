"""How much memory an export takes does not depend on its length."""

import shutil
from pathlib import Path

import httpx
import pytest

from tests.acceptance.memory import peak
from tests.bearers import bearer
from tests.processes import TIMEOUT_S, serving

# Allocators keep what was freed: pyarrow's pools for a while, and glibc in an arena for each thread.
ALLOCATORS = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
MOST_GROWTH = 12 * 1024  # kB; the longest answers have 33 MB more than the short ones
# Thirds of the catalogue, with 20,000 events each. SQLite's caches have a bounded size, but hold more of a file the
# more of it is read. So the short exports together read all that the long one reads.
THIRDS = (("2020-01-01", "2020-01-21"), ("2020-01-21", "2020-02-10"), ("2020-02-10", "2020-03-02"))


@pytest.mark.parametrize("name", ["ndjson", "csv", "geojson", "parquet", "arrow"])
def test_a_long_export_takes_no_more_memory_than_a_short_one(tmp_path: Path, dense_file: Path, name: str) -> None:
    shutil.copy(dense_file, tmp_path / "dense.db")
    with serving("--store", "sqlite:///dense.db", folder=tmp_path, settings=ALLOCATORS) as server:
        url = server.url.removesuffix("/graphql")
        with httpx.Client(base_url=url, headers=bearer(), timeout=TIMEOUT_S, trust_env=False) as http:

            def export(first: str, last: str) -> int:
                times = {"startTime": f"{first}T00:00:00Z", "endTime": f"{last}T00:00:00Z"}
                with http.stream("GET", f"/export/events.{name}", params=times) as answer:
                    assert answer.status_code == 200
                    return sum(map(len, answer.iter_raw()))

            short = [export(*third) for third in THIRDS]
            before = peak(server.process.pid)
            whole = export(THIRDS[0][0], THIRDS[-1][1])
            assert peak(server.process.pid) - before < MOST_GROWTH

    assert whole > 2.5 * max(short)
    assert whole > 0.95 * sum(short)
