"""`quakegraph serve` as a process: what it says at start, what stops it from starting, and how it ends."""

import asyncio
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from starlette.types import Receive, Scope, Send

from graph.serving.server import _is_loopback
from tests import processes
from tests.domains.earthquakes.usgs.usgs_server import Pending, UsgsServer, stall
from tests.effort import rounds
from tests.forking import ended, serving
from tests.processes import TIMEOUT_S, environment, quakegraph
from tests.settings import Settings
from tests.subscribers import live_service

TOTAL = "{ events { totalCount } }"
INGEST = "mutation { ingestRecent { upserted } }"


def logs_in(store: Path) -> list[dict[str, Any]]:
    """The request logs that a service left behind."""
    db = sqlite3.connect(store)
    db.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in db.execute('SELECT * FROM "earthquake-events.LOG" ORDER BY timestamp')]
    finally:
        db.close()


# Start


def test_a_service_says_where_everything_is_and_ends_with_its_logs_flushed(tmp_path: Path) -> None:
    with processes.serving(folder=tmp_path, settings={"GRAPH_DRAIN": "60"}) as server:
        page = httpx.get(server.url, headers={"Accept": "text/html"}, trust_env=False, timeout=TIMEOUT_S)
        for _ in range(3):
            answer = server.ask(TOTAL)
            assert (answer.status_code, answer.json()) == (200, {"data": {"events": {"totalCount": 0}}})

        server.wait_for_output("Dashboard: ")
        assert server.output[:2] == [f"GraphiQL: {server.url}", f"Dashboard: {server.url.removesuffix('graphql')}"]
        assert (page.status_code, "<title>" in page.text) == (200, True)
        assert server.end(signal.SIGINT) == 0  # without a drain
    assert [log["route"] for log in logs_in(tmp_path / "quakegraph.db")] == ["/earthquakes"] * 3
    assert not (tmp_path / "quakegraph.db.secret").exists()


def test_without_keys_the_first_line_has_a_token_for_this_machine(tmp_path: Path) -> None:
    closed = {"GRAPH_JWT_SECRET": "", "GRAPH_PUBLIC_READ": "false"}
    with serving("--host", "::1", folder=tmp_path, settings=closed) as server:
        address, _, token = server.address.partition("#token=")
        mutation = {"query": "mutation { ingestEvents(input: {events: []}) { fetched } }"}
        headers = {"Authorization": f"Bearer {token}"}
        answer = httpx.post(address, json=mutation, headers=headers, trust_env=False, timeout=TIMEOUT_S)
        assert answer.json() == {"data": {"ingestEvents": {"fetched": 0}}}
        assert httpx.post(address, json=mutation, trust_env=False, timeout=TIMEOUT_S).status_code == 401

        server.wait_for_output("Dashboard: ")
        reading = server.output[1].partition("#token=")[2]
        headers = {"Authorization": f"Bearer {reading}"}
        answer = httpx.post(address, json={"query": TOTAL}, headers=headers, timeout=TIMEOUT_S, trust_env=False)
        assert answer.json() == {"data": {"events": {"totalCount": 0}}}
        assert jwt.decode(reading, options={"verify_signature": False})["scope"] == "events:read"
        assert server.end() == 0
    assert (tmp_path / "quakegraph.db.secret").stat().st_mode & 0o777 == 0o600


def test_a_service_without_authentication_listens_only_locally(folder: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "quakes.example"):  # noqa: S104 — refused
        result = quakegraph("serve", "--host", host, settings={"GRAPH_JWT_SECRET": ""})

        assert (result.exit_code, result.stderr) == (
            2,
            f"Error: to listen on {host}, where others can connect, set GRAPH_JWT_SECRET or GRAPH_JWKS_URL; "
            "without them this listens on 127.0.0.1 alone\n",
        )
    assert list(folder.iterdir()) == []
    assert all(map(_is_loopback, ("127.0.0.1", "127.0.0.2", "localhost", "::1")))


def test_a_secret_that_others_can_read_stops_the_start(tmp_path: Path) -> None:
    secret = tmp_path / "quakegraph.db.secret"
    secret.write_text("x" * 64)
    secret.chmod(0o644)
    status, said = ended("serve", "--port", "0", folder=tmp_path, settings={"GRAPH_JWT_SECRET": ""})

    assert status == 1
    assert said.splitlines()[-1].startswith("Error: the secret quakegraph.db.secret can be read by others")


def test_each_option_is_also_a_variable_the_option_wins_and_the_demo_is_for_an_empty_catalogue(tmp_path: Path) -> None:
    settings = {
        "GRAPH_HOST": "127.0.0.1",
        "GRAPH_PORT": "1",  # which only root may have; the option asks for another
        "GRAPH_STORE": "sqlite:///variable.db",
        "GRAPH_WORKERS": "1",
        "GRAPH_POLL": "0",
        "GRAPH_DEMO": "true",
    }
    with serving(folder=tmp_path, settings=settings) as server:
        assert server.output[:3] == [
            "Loaded 2,124 real events of a week in 2023 as a demo.",
            "Reported 8 sightings of the last half hour as a demo.",
            "Registered 12 data files of two days, and 7 runs, as a demo.",
        ]
        assert server.ask(TOTAL).json() == {"data": {"events": {"totalCount": 2124}}}
    options = ("--demo", "--store", "sqlite:///variable.db")
    with serving(*options, folder=tmp_path, settings={**settings, "GRAPH_STORE": "sqlite:///other.db"}) as server:
        assert server.output[0].startswith("GraphiQL: ")
        assert server.ask(TOTAL).json() == {"data": {"events": {"totalCount": 2124}}}

    assert [path.name for path in tmp_path.iterdir()] == ["variable.db"]
    logs = logs_in(tmp_path / "variable.db")
    assert [log["upserted"] for log in logs if log["logType"] == "INGEST"] == [2124]


def test_what_cannot_be_used_ends_with_one_line(tmp_path: Path, dynamodb_endpoint: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for options, said in {
            ("--port", port): f"cannot listen on 127.0.0.1:{port}: Address already in use",
            ("--host", "192.0.2.1"): "cannot listen on 192.0.2.1:0: Cannot assign requested address",
            ("--store", "dynamodb://no-such-"): "table no-such-earthquake-events does not exist",
        }.items():
            status, line = ended("serve", "--port", "0", *options, folder=tmp_path)
            assert (status, line.count("\n")) == (1, 1)
            assert line.removesuffix("\n").partition(": run `")[0] == f"Error: {said}"


# End


SIGNALLED = """
import signal, sys
from graph.cli import main
from graph.serving import server

class Signalling:
    def __del__(self):
        signal.raise_signal(int(sys.argv[1]))  # Python drops what a handler raises here

def create_app(*arguments, **named):
    Signalling()
    return app(*arguments, **named)

app, server.create_app = server.create_app, create_app
main(["serve", "--port", "0"])
"""


@pytest.mark.repeated
def test_a_signal_at_any_moment_of_the_start_ends_the_service(tmp_path: Path) -> None:
    for number in ("SIGTERM", "SIGINT")[: rounds(2, at_least=1)]:
        command = [sys.executable, "-c", SIGNALLED, str(int(signal.Signals[number]))]
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment(), timeout=TIMEOUT_S, stderr=subprocess.PIPE, text=True, check=False
        )

        assert ended.returncode == 0, ended.stderr
        assert [line.partition(": ")[0] for line in ended.stderr.splitlines()] == ["GraphiQL", "Dashboard"]


def test_requests_in_flight_are_finished_before_the_end(tmp_path: Path, usgs: UsgsServer) -> None:
    catalogue = Pending()
    usgs.answer_next(catalogue)
    with serving(folder=tmp_path, settings={"GRAPH_USGS_URL": usgs.url}) as server, ThreadPoolExecutor() as clients:
        answer = clients.submit(server.ask, INGEST)
        assert catalogue.asked.wait(TIMEOUT_S)
        assert server.ask(TOTAL).status_code == 200
        server.process.send_signal(signal.SIGTERM)
        server.wait_for_output("Waiting for connections to close")
        assert not answer.done()

        catalogue.released.set()

        assert answer.result().json() == {"data": {"ingestRecent": {"upserted": 5}}}
        assert server.process.wait(TIMEOUT_S) == 0

    logs = logs_in(tmp_path / "quakegraph.db")
    assert sorted((log["route"], log["status"]) for log in logs) == [("/earthquakes", 200), ("/ingest/recent", 200)]


def test_an_endless_request_delays_the_end_by_the_shutdown_timeout_at_most(tmp_path: Path, usgs: UsgsServer) -> None:
    asked = threading.Event()

    async def note_and_stall(scope: Scope, receive: Receive, send: Send) -> None:
        asked.set()
        await stall(scope, receive, send)

    usgs.answer_next(note_and_stall)
    settings = {"GRAPH_USGS_URL": usgs.url, "GRAPH_USGS_TIMEOUT": "600", "GRAPH_SHUTDOWN_TIMEOUT": "1"}
    with serving(folder=tmp_path, settings=settings) as server, ThreadPoolExecutor() as clients:
        clients.submit(server.ask, INGEST)
        assert asked.wait(TIMEOUT_S)
        assert server.end() == 0


def test_no_connection_is_accepted_when_subscriptions_are_completed(tmp_path: Path) -> None:
    """A client that subscribes again at once must not reach the process that ends."""
    refused: list[bool] = []
    with live_service(Settings(store=f"sqlite:///{tmp_path}/ending.db")) as service:
        url = httpx.URL(service.url)

        async def connect(seconds: float) -> None:
            try:
                _, writer = await asyncio.open_connection(url.host, url.port)
                writer.close()
            except ConnectionRefusedError:
                refused.append(True)

        service.process.endings.add(connect)

    assert refused == [True]
