"""What all tests share: signals, deadlines, the requirements of a machine, and the engines of the store."""

import pytest
from hypothesis import HealthCheck, settings

# No test depends on a clock.
settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

pytest_plugins = (
    *("tests.signals", "tests.deadlines", "tests.needs"),
    *("tests.browser", "tests.service", "tests.store.emulator"),
)


@pytest.fixture(params=["sqlite", "dynamodb"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine of the store in turn, ready for `tests.store.engines.empty_table`."""
    if request.param == "dynamodb":
        request.getfixturevalue("dynamodb_endpoint")
    return str(request.param)
