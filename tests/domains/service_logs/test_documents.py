"""What `docs/service-logs.md` shows, where the tests of all documents do not execute it, and its lists."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from graph.domains.service_logs.model import Problem
from scripts import collector
from tests.bearers import bearer
from tests.documents.markdown import Block, document
from tests.processes import TIMEOUT_S, environment
from tests.service import running
from tests.settings import Settings
from tests.subscribers import event_stream, eventually, live_service

PAGE = document("docs/service-logs.md")
HERE = "http://127.0.0.1:8000"  # the service, as documents name it
TOKEN = bearer()["Authorization"].removeprefix("Bearer ")


def shown(language: str) -> str:
    """The block of a language that names this file."""
    (block,) = [block for block in PAGE.blocks if is_tested_here(block) and block.language == language]
    return block.text


def is_tested_here(block: Block) -> bool:
    return block.test is not None and Path(block.test).name == Path(__file__).name


def test_the_python_program_sends_its_log(tmp_path: Path) -> None:
    with running(Settings(store=f"sqlite:///{tmp_path}/logs.db")) as service:
        program = shown("python").replace(HERE, service.url)
        variables = {**environment(), "QUAKEGRAPH_TOKEN": TOKEN, "NO_PROXY": "127.0.0.1"}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=variables,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=True,
        )
        answer = service.ask("{ serviceLogs { nodes { service level message metadata } } }")

    (log,) = answer["serviceLogs"]["nodes"]
    assert done.stderr == ""
    assert (log["service"], log["level"], log["message"]) == ("checkout", "WARN", "The payment took long")
    assert (log["metadata"]["order"], log["metadata"]["ms"]) == (18, 5200)


@pytest.mark.needs("Linux on x86-64")
async def test_the_collector_sends_the_lines_of_a_file(tmp_path: Path) -> None:
    lines = [
        {"time": "2026-11-20T10:00:00.000000001Z", "level": "warn", "message": "Slow", "ms": 5200},
        {"time": "2026-11-20T10:00:00.000000002Z", "level": "info", "message": "Paid", "tags": ["new"]},
    ]
    (tmp_path / "checkout.log").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    query = "{ serviceLogs(orderBy: TIME_ASC) { nodes { service level message timeUnixNano metadata } } }"
    with running(Settings(store=f"sqlite:///{tmp_path}/logs.db", application_log_days=0)) as service:
        configuration = shown("yaml").replace("http://HOST:8000", service.url)
        (tmp_path / "collector.yaml").write_text(configuration.replace("/var/log/checkout", str(tmp_path)))
        silent = "yaml:service::telemetry::metrics::level: none"  # else it listens on a port of its own
        collecting = await asyncio.create_subprocess_exec(
            *(collector.fetched(), "--config", "collector.yaml", "--config", silent),
            cwd=tmp_path,
            env={**environment(), "QUAKEGRAPH_TOKEN": TOKEN, "NO_PROXY": "127.0.0.1"},
            stderr=subprocess.DEVNULL,
        )
        try:
            await eventually(lambda: len(service.ask(query)["serviceLogs"]["nodes"]) == len(lines))
        finally:
            collecting.terminate()
            await collecting.wait()
        slow, paid = service.ask(query)["serviceLogs"]["nodes"]

    assert (slow["service"], slow["level"], slow["message"]) == ("checkout", "WARN", "Slow")
    assert (paid["service"], paid["level"], paid["message"]) == ("checkout", "INFO", "Paid")
    assert int(paid["timeUnixNano"]) - int(slow["timeUnixNano"]) == 1
    assert (slow["metadata"]["ms"], paid["metadata"]["tags"]) == (5200, ["new"])


async def test_the_subscription_sends_what_is_stored(tmp_path: Path) -> None:
    write = """mutation { writeLogs(input: {logs: [
        {service: "checkout", message: "Paid"}
        {service: "search", message: "Slow", level: WARN}
        {service: "checkout", message: "Refused", level: ERROR, metadata: {order: 18}}
    ]}) { accepted } }"""
    with live_service(Settings(store=f"sqlite:///{tmp_path}/live.db")) as service:
        async with event_stream(service.url, shown("graphql"), headers=bearer()) as stream:
            assert await stream.block() == b":"  # which says that the stream has begun
            assert service.http.post("/graphql", json={"query": write}).json() == {
                "data": {"writeLogs": {"accepted": 3}}
            }
            notice = (await stream.next_data())["serviceLogs"]

    assert (notice["node"]["message"], notice["node"]["metadata"], notice["dropped"]) == ("Refused", {"order": 18}, 0)


def test_the_table_of_rejections_is_complete() -> None:
    rows = PAGE.rows("Rejections and limits")

    assert [row[0].strip("`") for row in rows][: len(Problem)] == [problem.value for problem in Problem]


def test_the_fields_of_a_log_are_those_of_the_graph() -> None:
    fields = [name for row in PAGE.rows("A log") for name in re.findall(r"`(\w+)`", row[0])]
    schema = Path(PAGE.path.parent.parent, "schema.graphql").read_text()
    declared = schema.partition("\ntype ServiceLog implements Node")[2].partition("\n}")[0]

    assert sorted(fields) == sorted(set(re.findall(r"^  (\w+)[:(]", declared, re.MULTILINE)) - {"id", "requestLog"})
