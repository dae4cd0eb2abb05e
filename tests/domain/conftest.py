"""The example domain, installed while a test runs."""

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.domain.plugins import EXAMPLE, PACKAGE, on_the_path, write_example_metadata


@pytest.fixture
def field_notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The package of the example domain."""
    site = tmp_path_factory.mktemp("site")
    write_example_metadata(site)
    with on_the_path(site, EXAMPLE):
        yield importlib.import_module(PACKAGE)


@pytest.fixture(autouse=True)
def _installed(request: pytest.FixtureRequest) -> None:
    """The example's own tests find it installed, as its author does."""
    if request.path.is_relative_to(EXAMPLE):
        request.getfixturevalue("field_notes")
