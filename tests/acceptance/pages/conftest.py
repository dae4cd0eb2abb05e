"""The service of pages that only read: one of each module, since browsers have it start threads at any time."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import Service, running, settings
from tests.store.samples import HeldClock


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory, week_file: Path, _usgs: UsgsServer) -> Iterator[Service]:
    """A service with the real week."""
    copied = tmp_path_factory.mktemp("week") / "week.db"
    shutil.copy(week_file, copied)
    with running(settings(copied, _usgs), clock=HeldClock()) as service:
        yield service
