from collections.abc import Iterator

import pytest

from tests.contracts.filled import Filled, filled
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory, _usgs: UsgsServer) -> Iterator[Filled]:
    """A filled service on SQLite."""
    with filled("sqlite", tmp_path_factory.mktemp("filled"), _usgs) as service:
        yield service
    _usgs.forget()


@pytest.fixture(scope="module")
def on_dynamodb(
    tmp_path_factory: pytest.TempPathFactory, dynamodb_endpoint: str, _usgs: UsgsServer
) -> Iterator[Filled]:
    """A filled service on DynamoDB's emulator."""
    with filled("dynamodb", tmp_path_factory.mktemp("filled"), _usgs) as service:
        yield service
    _usgs.forget()
