"""Several processes of a service as one sees them from outside: their metrics are added up, and their logs are JSON."""

import json
import os
import re
import signal
from pathlib import Path

import orjson

from graph import __version__
from tests.observability.scraping import scraped
from tests.processes import Server, serving

EVENT = '{ event(eventId: "us1") { mag } }'
FORGED = "2024-03-02T00:00:00Z error    graph.serving.server: the store is gone"
SETTINGS = {"GRAPH_LOG_FORMAT": "json", "GRAPH_LOG_LEVEL": "debug", "GRAPH_DOMAINS": "earthquakes"}


def test_the_processes_add_up_their_metrics_outlive_one_another_and_log_json_alone(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with serving("--workers", "2", folder=tmp_path, settings={**SETTINGS, "TMPDIR": str(temporary)}) as server:
        server.wait_for_output("Application startup complete", times=2)
        assert server.ask(f"query Named {EVENT}").status_code == 200
        assert server.ask(f"query {{ event(eventId: {json.dumps(FORGED)}) {{ mag }} }}").status_code == 200
        for _ in range(18):  # each over a connection of its own, which either process takes
            assert server.ask(EVENT).status_code == 200
        server.wait_for_output('"Answered"', times=20)
        check_lines([line for line in server.output if not line.startswith(("GraphiQL", "Dashboard"))])
        check_metrics(server)
        types = server.ask("{ __schema { types { name } } }").json()["data"]["__schema"]["types"]
        names = {each["name"] for each in types}
        assert {"Event", "RequestLog", "Sighting"} & names == {"Event"}  # of the domains that are on
        assert [folder.name.partition("-metrics-")[0] for folder in temporary.iterdir()] == ["quakegraph"]
        assert server.end() == 0
    assert list(temporary.iterdir()) == []


def check_lines(lines: list[str]) -> None:
    """Each line is JSON, and tells of its request."""
    read = [orjson.loads(line) for line in lines]
    assert all({"event", "level", "logger", "timestamp"} <= line.keys() for line in read)
    assert FORGED not in "\n".join(lines)
    answers = [line for line in read if line["event"] == "Answered"]
    assert {(line["operation"], line["code"], line["status"]) for line in answers} == {("query", "OK", 200)}
    assert [line["operation_name"] for line in answers if "operation_name" in line] == ["Named"]
    assert all(line["subject"] == "tester" and len(line["request_id"]) == 36 for line in answers)
    assert all(line["milliseconds"] >= 0 for line in answers)


def check_metrics(server: Server) -> None:
    """Of two processes, one of which is killed and begins anew."""
    url = server.url.removesuffix("/graphql")
    scrapes = [scraped(url) for _ in range(6)]
    found = [re.search(r"Started server process \[(\d+)\]", line) for line in server.output]
    processes = [int(match[1]) for match in found if match]

    assert {scrape.value("quakegraph_requests_total", operation="query", code="OK") for scrape in scrapes} == {20}
    assert {scrape.value("quakegraph_request_seconds_count", operation="query") for scrape in scrapes} == {20}
    assert {scrape.value("quakegraph_store_pool_size", pool="readers") for scrape in scrapes} == {4}
    assert {scrape.value("quakegraph_build_info", version=__version__) for scrape in scrapes} == {1}
    memory = scrapes[0].value("process_resident_memory_bytes") or 0
    assert memory > max(map(resident_bytes, processes))

    os.kill(processes[0], signal.SIGKILL)
    server.wait_for_output("Application startup complete", times=3)
    after = scraped(url)

    assert after.value("quakegraph_requests_total", operation="query", code="OK") == 20
    assert after.value("quakegraph_store_pool_size", pool="readers") == 4


def resident_bytes(process: int) -> int:
    """Memory of a process."""
    pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
