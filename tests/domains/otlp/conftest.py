"""Services that take logs in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.domains.otlp.messages import JSON, PROTOBUF
from tests.domains.otlp.senders import Sender, receiving


@pytest.fixture
def sender(tmp_path: Path) -> Iterator[Sender]:
    """A sender to a service without logs."""
    with receiving(tmp_path) as sender:
        yield sender


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sender]:
    """A sender to a service that the tests of a module share, since what they send is refused or of no interest."""
    with receiving(tmp_path_factory.mktemp("hostile")) as sender:
        yield sender


@pytest.fixture(params=[PROTOBUF, JSON], ids=["protobuf", "json"])
def media_type(request: pytest.FixtureRequest) -> str:
    """Each format in turn."""
    return str(request.param)
