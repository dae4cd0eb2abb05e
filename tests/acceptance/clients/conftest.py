"""A service whose events clients follow."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.settings import Settings
from tests.subscribers import LiveService, live_service


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveService]:
    with live_service(Settings(store=f"sqlite:///{tmp_path}/live.db")) as service:
        yield service
