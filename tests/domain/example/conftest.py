"""Here, the distribution is installed only while its tests run. Elsewhere, pip has installed it."""

import pytest


@pytest.fixture(autouse=True)
def _installed(field_notes: object) -> None:
    """As `tests.domain.conftest` does it."""
