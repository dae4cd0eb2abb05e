"""The catalogues of both tiers, and one whose exports last longer."""

import io
from functools import partial
from pathlib import Path

import pyarrow.csv
import pytest

from tests.domains.export.conftest import fill
from tests.domains.export.conftest import long_file as long_file
from tests.sharing import folder_of_run, made_once


@pytest.fixture(scope="session")
def dense_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with 60,000 events, to be copied."""
    return made_once(folder_of_run(tmp_path_factory) / "longer.db", partial(fill, events=60_000))


@pytest.fixture(scope="session", autouse=True)
def _signals_of_pyarrow() -> None:
    """Its first reading of CSV opens a pipe for signals, which stays open."""
    pyarrow.csv.read_csv(io.BytesIO(b"a\n1\n"))
