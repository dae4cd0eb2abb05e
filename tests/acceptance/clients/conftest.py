"""A service whose events clients follow, and the tools that judge the graph."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.clients.tools import gateways as gateways
from tests.acceptance.clients.tools import gql as gql
from tests.acceptance.clients.tools import node_modules as node_modules
from tests.acceptance.clients.tools import project as project
from tests.acceptance.clients.tools import python_tools as python_tools
from tests.acceptance.clients.tools import relay_compiler as relay_compiler
from tests.settings import Settings
from tests.subscribers import LiveService, live_service


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveService]:
    with live_service(Settings(store=f"sqlite:///{tmp_path}/live.db")) as service:
        yield service
