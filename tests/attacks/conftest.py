"""What attacks share."""

from pathlib import Path

import pytest

from tests.attacks.dense import fill
from tests.sharing import folder_of_run, made_once


@pytest.fixture(scope="session")
def dense_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with many events on few days, to be copied."""
    return made_once(folder_of_run(tmp_path_factory) / "dense.db", fill)
