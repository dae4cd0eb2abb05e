"""The SDK of OpenTelemetry and its Collector send as `docs/service-logs.md` shows."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import collector
from tests.acceptance.clients.documented.programs import ENVIRONMENT, at, run
from tests.bearers import bearer
from tests.documents.markdown import document
from tests.domains.data_files.followed import block
from tests.service import running
from tests.settings import Settings
from tests.subscribers import eventually

PAGE = document("docs/service-logs.md")
TOKEN = bearer()["Authorization"].removeprefix("Bearer ")


def test_the_python_program_sends_its_log(tmp_path: Path) -> None:
    with running(Settings(store=f"sqlite:///{tmp_path}/logs.db")) as service:
        program = at(service.url, block(PAGE, "python", __file__))
        done = run(sys.executable, "-c", program, folder=tmp_path, settings={"QUAKEGRAPH_TOKEN": TOKEN})
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
        configuration = block(PAGE, "yaml", __file__).replace("http://HOST:8000", service.url)
        (tmp_path / "collector.yaml").write_text(configuration.replace("/var/log/checkout", str(tmp_path)))
        silent = "yaml:service::telemetry::metrics::level: none"  # else it listens on a port of its own
        collecting = await asyncio.create_subprocess_exec(
            *(collector.fetched(), "--config", "collector.yaml", "--config", silent),
            cwd=tmp_path,
            env={**ENVIRONMENT, "QUAKEGRAPH_TOKEN": TOKEN},
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
