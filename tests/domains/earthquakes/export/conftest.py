"""A catalogue that is larger than what a connection's buffers hold."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.dense import fill
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import Service, running, settings
from tests.sharing import folder_of_run, made_once


@pytest.fixture(scope="session")
def dense_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with 60,000 events, to be copied."""
    return made_once(folder_of_run(tmp_path_factory) / "dense.db", fill)


@pytest.fixture(scope="session")
def dense(dense_file: Path, _usgs: UsgsServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with 60,000 events, for tests that only read. Its clock is later than their ingest."""
    copied = tmp_path_factory.mktemp("dense") / "dense.db"
    copied.write_bytes(dense_file.read_bytes())
    with running(settings(copied, _usgs)) as service:
        yield service
