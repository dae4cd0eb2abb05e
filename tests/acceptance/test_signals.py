"""What a shell starts in its background, where SIGINT is ignored: the service, and the scripts."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.domains.earthquakes.usgs.usgs_server import Pending, UsgsServer
from tests.processes import TIMEOUT_S, Child, in_background, serving, started

ROOT = Path(__file__).parents[2]


def test_a_service_in_the_background_ends_on_sigterm(tmp_path: Path) -> None:
    with serving("--workers", "2", folder=tmp_path, background=True) as server:
        assert server.ask("{ events { totalCount } }").status_code == 200
        assert server.end(signal.SIGTERM) == 0


def test_an_ingest_in_the_background_ends_on_sigterm(tmp_path: Path, usgs: UsgsServer) -> None:
    catalogue = Pending()
    usgs.answer_next(catalogue)
    settings = {"GRAPH_USGS_URL": usgs.url}
    with started("ingest", "--recent", folder=tmp_path, settings=settings, background=True) as process:
        assert catalogue.asked.wait(TIMEOUT_S)
        process.send_signal(signal.SIGTERM)

        assert process.wait(TIMEOUT_S) == -signal.SIGTERM
    catalogue.released.set()


@pytest.mark.needs("java", "npm")
def test_dynamodb_local_in_the_background_receives_sigint() -> None:
    command = in_background(sys.executable, "-m", "scripts.dynamodb_local")
    with Child(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("AWS_ENDPOINT_URL=")
        process.send_signal(signal.SIGINT)

        assert process.wait(TIMEOUT_S) == 0
