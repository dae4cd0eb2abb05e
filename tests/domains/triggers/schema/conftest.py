"""A service whose endpoints may be on this machine, and which delivers nothing by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service import Service, running
from tests.settings import Settings


def quiet_settings(store: Path) -> Settings:
    """Settings with which nothing of the triggers changes by itself."""
    return Settings(
        store=f"sqlite:///{store}", deliver=False, webhook_http=True, webhook_networks=("127.0.0.0/8",), max_endpoints=3
    )


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Such a service, for the tests of one file."""
    with running(quiet_settings(tmp_path_factory.mktemp("quiet") / "quiet.db")) as service:
        yield service
