"""What all tests share: signals, effort, what a machine must have, and the engines of the store."""

import re
from pathlib import Path

import pytest

pytest_plugins = (
    *("tests.signals", "tests.effort", "tests.sharing", "tests.left_open", "tests.needs"),
    *("tests.service", "tests.store.emulator", "tests.domains.sightings.foreign"),
)


@pytest.fixture(params=["sqlite", "dynamodb"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine of the store in turn, ready for `tests.store.engines.empty_table`."""
    if request.param == "dynamodb":
        request.getfixturevalue("dynamodb_endpoint")
    return str(request.param)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """The parameter's name, with a number from pytest, in place of bytes and of text that is no short word."""
    if isinstance(val, bytes) or (isinstance(val, str) and not re.fullmatch(r"[\w .:/@$-]{1,40}", val, re.ASCII)):
        return argname
    return None  # as pytest names it


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
