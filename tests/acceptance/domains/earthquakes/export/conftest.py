"""The catalogues of both tiers, and one whose exports last longer."""

from pathlib import Path

import pytest

from tests.attacks.dense import fill
from tests.domains.earthquakes.export.conftest import long_file as long_file
from tests.sharing import folder_of_run, made_once


@pytest.fixture(scope="session")
def dense_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with 60,000 events, to be copied."""
    return made_once(folder_of_run(tmp_path_factory) / "dense.db", fill)
