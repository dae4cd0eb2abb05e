"""A service for clients that subscribe, on an empty catalogue."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import settings
from tests.subscribers import LiveService, live_service

Limited = Callable[..., AbstractContextManager[LiveService]]


@pytest.fixture
def limited(tmp_path: Path, usgs: UsgsServer) -> Limited:
    """Begins a service with other settings."""

    def begun(**others: Any) -> AbstractContextManager[LiveService]:
        return live_service(settings(tmp_path / "live.db", usgs, **others))

    return begun


@pytest.fixture
def service(limited: Limited) -> Iterator[LiveService]:
    with limited() as service:
        yield service
