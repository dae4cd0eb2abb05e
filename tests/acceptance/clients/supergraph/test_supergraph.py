"""Hive Gateway and Apollo Gateway stand before the service and another one, as docs/clients/supergraph.md says."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import orjson
import pytest

from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.request_logs.scopes import LOGS_READ
from tests.acceptance.clients.documented.programs import ENVIRONMENT, at, blocks, lines, run
from tests.bearers import bearer
from tests.children import Child, kill_descendants
from tests.ports import reserved_port
from tests.processes import TIMEOUT_S
from tests.settings import Settings
from tests.subscribers import LiveService, live_service

pytestmark = pytest.mark.needs("npm", "Node 20")

PAGE = "docs/clients/supergraph.md"
BOTH_WAYS = """{
  event(eventId: "us6000kxfl") { mag fieldTrips { team event { place } } }
  fieldTrips { team event { eventId mag } }
}"""


@dataclass(frozen=True)
class Supergraph:
    """The service, another subgraph and two gateways, which run."""

    service: LiveService
    folder: Path
    ports: dict[str, str]  # documented ones → those of this test
    gateways: dict[str, str]  # name → URL of its root
    trips: ExitStack  # what ends the other subgraph

    def answer(self, gateway: str, query: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
        """The body of a gateway's answer."""
        with httpx.Client(timeout=TIMEOUT_S, trust_env=False) as http:
            answer = http.post(f"{self.gateways[gateway]}/graphql", json={"query": query}, headers=headers)
        body: dict[str, Any] = answer.json()
        return body

    def start_trips(self) -> None:
        """Start the other subgraph."""
        self.trips.enter_context(started("Field trips at", "node", "trips.mjs", folder=self.folder))


@contextmanager
def started(sign: str, *command: str, folder: Path) -> Iterator[None]:
    """A program that runs, once it has printed a line with the sign that it listens."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with Child(command, cwd=folder, env=ENVIRONMENT, **pipes) as process:
        assert process.stdout is not None
        printed = list(takewhile(lambda line: sign not in line, process.stdout))
        assert process.poll() is None, "".join(printed)
        reader = Thread(target=process.stdout.read)  # so that it can print more
        reader.start()
        try:
            yield
        finally:
            kill_descendants(process.pid)
            process.kill()
            reader.join()


def program(heading: str, ports: dict[str, str], url: str, number: int = 0) -> str:
    """A program below a heading, with the addresses of a test in place of the documented ones."""
    text = at(url, blocks(PAGE, heading, "js")[number])
    for documented, port in ports.items():
        text = text.replace(documented, port)
    return text


@pytest.fixture(scope="module")
def supergraph(tmp_path_factory: pytest.TempPathFactory, week_file: Path, gateways: Path) -> Iterator[Supergraph]:
    folder = tmp_path_factory.mktemp("supergraph")
    shutil.copy(week_file, folder / "week.db")
    (folder / "node_modules").symlink_to(gateways)
    with ExitStack() as stack:
        service = stack.enter_context(live_service(Settings(store=f"sqlite:///{folder}/week.db", federation=True)))
        trips, hive, apollo = (str(stack.enter_context(reserved_port())) for _ in range(3))
        ports = {"4001": trips, "4000": hive}
        (folder / "trips.mjs").write_text(program("Another subgraph", ports, service.url))
        (folder / "compose.mjs").write_text(program("Composition", ports, service.url))
        (folder / "gateway.config.mjs").write_text(program("Hive Gateway", ports, service.url))
        (folder / "gateway.mjs").write_text(program("Apollo Gateway", {"4000": apollo}, service.url))
        urls = {"hive": f"http://127.0.0.1:{hive}", "apollo": f"http://127.0.0.1:{apollo}"}
        running = Supergraph(service, folder, ports, urls, stack.enter_context(ExitStack()))
        running.start_trips()
        run("node", "compose.mjs", folder=folder)
        stack.enter_context(started("Listening", "node_modules/.bin/hive-gateway", "supergraph", folder=folder))
        stack.enter_context(started("Supergraph at", "node", "gateway.mjs", folder=folder))
        yield running


@pytest.mark.parametrize("package", ["@apollo/composition", "@theguild/federation-composition"])
def test_the_subgraphs_compose(package: str, supergraph: Supergraph) -> None:
    text = (supergraph.folder / "compose.mjs").read_text()
    name = f"{package.rpartition('/')[2]}.graphql"
    (supergraph.folder / f"{name}.mjs").write_text(
        text.replace('from "@apollo/composition"', f'from "{package}"').replace("supergraph.graphql", name)
    )

    run("node", f"{name}.mjs", folder=supergraph.folder)

    composed = (supergraph.folder / name).read_text()
    (event,) = re.findall(r"^type Event\b[^{]*", composed, re.MULTILINE)
    keys = re.findall(r'@join__type\(graph: (\w+), key: "(\w+)"\)', event)
    assert sorted(keys) == [("QUAKEGRAPH", "eventId"), ("QUAKEGRAPH", "id"), ("TRIPS", "eventId")]
    assert "https://specs.apollo.dev/cost/v0.1" in composed


def test_the_program_prints_what_is_below_it(supergraph: Supergraph) -> None:
    (output,) = blocks(PAGE, "Hive Gateway", "text")
    text = program("Hive Gateway", supergraph.ports, supergraph.service.url, 1)
    (supergraph.folder / "query.mjs").write_text(text)

    assert lines(run("node", "query.mjs", folder=supergraph.folder).stdout) == lines(output)


@pytest.mark.parametrize("gateway", ["hive", "apollo"])
def test_a_query_goes_both_ways_and_a_broken_reference_loses_only_itself(gateway: str, supergraph: Supergraph) -> None:
    answer = supergraph.answer(gateway, BOTH_WAYS)

    assert answer["data"] == {
        "event": {"mag": 5.9, "fieldTrips": [{"team": "Panama", "event": {"place": "266 km S of Burica, Panama"}}]},
        "fieldTrips": [
            {"team": "Panama", "event": {"eventId": "us6000kxfl", "mag": 5.9}},
            {"team": "Java", "event": {"eventId": "us6000kxp7", "mag": 5.5}},
            {"team": "Atlantis", "event": None},
            {"team": "Nowhere", "event": None},
        ],
    }
    assert "BAD_USER_INPUT" in {error["extensions"]["code"] for error in answer["errors"]}


@pytest.mark.parametrize("gateway", ["hive", "apollo"])
def test_without_the_second_subgraph_the_first_one_answers(gateway: str, supergraph: Supergraph) -> None:
    supergraph.trips.close()
    try:
        answer = supergraph.answer(gateway, '{ event(eventId: "us6000kxfl") { mag fieldTrips { team } } }')
    finally:
        supergraph.start_trips()

    assert answer["data"] == {"event": {"mag": 5.9, "fieldTrips": None}}
    assert answer["errors"]


@pytest.mark.parametrize("gateway", ["hive", "apollo"])
def test_a_token_is_passed_on(gateway: str, supergraph: Supergraph) -> None:
    query = "{ requestLogs(first: 0) { nodes { id } } fieldTrips { team } }"

    def codes(headers: dict[str, str] | None) -> list[str]:
        answer = supergraph.answer(gateway, query, headers)
        assert len(answer["data"]["fieldTrips"]) == 4
        assert (answer["data"]["requestLogs"] is None) is ("errors" in answer)
        return [error["extensions"]["code"] for error in answer.get("errors", ())]

    assert codes(None) == ["UNAUTHENTICATED"]
    assert codes(bearer(EVENTS_READ)) == ["FORBIDDEN"]
    assert codes(bearer(LOGS_READ)) == []


async def test_a_subscription_runs_through_hive_gateway_with_the_fields_of_both(supergraph: Supergraph) -> None:
    query = "subscription { events { node { eventId mag fieldTrips { team } } } }"

    async with (
        httpx.AsyncClient(base_url=supergraph.gateways["hive"], timeout=TIMEOUT_S, trust_env=False) as http,
        http.stream("POST", "/graphql", json={"query": query}, headers={"Accept": "text/event-stream"}) as answer,
    ):
        await supergraph.service.has_subscriptions(1)
        supergraph.service.store("us2", mag=4.5)  # of which the other tests know nothing
        async for line in answer.aiter_lines():
            if line.startswith("data: {"):
                break

    noticed = {"eventId": "us2", "mag": 4.5, "fieldTrips": []}  # not null, as if the other one had not answered
    assert orjson.loads(line.removeprefix("data: ")) == {"data": {"events": {"node": noticed}}}
