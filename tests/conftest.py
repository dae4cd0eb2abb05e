"""What all tests share: signals, deadlines, effort, what a machine must have, and the engines of the store."""

import pytest

pytest_plugins = (
    *("tests.signals", "tests.deadlines", "tests.effort", "tests.sharing", "tests.needs"),
    *("tests.browser", "tests.service", "tests.store.emulator"),
)


@pytest.fixture(params=["sqlite", "dynamodb"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine of the store in turn, ready for `tests.store.engines.empty_table`."""
    if request.param == "dynamodb":
        request.getfixturevalue("dynamodb_endpoint")
    return str(request.param)
