"""What attacks share."""

from pathlib import Path

import pytest

from tests.attacks.dense import fill


@pytest.fixture(scope="session")
def dense_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with many events on few days, to be copied."""
    path = tmp_path_factory.mktemp("dense") / "dense.db"
    fill(path)
    return path
