"""A service without the triggers has nothing of them."""

import sqlite3
from contextlib import closing
from pathlib import Path

from graph.domain import tables_of
from graph.domains.triggers import DOMAIN
from tests.observability.scraping import scraped
from tests.processes import quakegraph
from tests.service import running
from tests.settings import Settings

OTHERS = ("earthquakes", "request_logs", "service_logs")
WITHOUT = {"GRAPH_DOMAINS": ",".join(OTHERS)}


def test_there_is_no_type_metric_readiness_task_or_table(tmp_path: Path) -> None:
    with running(Settings(store=f"sqlite:///{tmp_path}/quakes.db", domains=OTHERS)) as service:
        types = {each["name"] for each in service.ask("{ __schema { types { name } } }")["__schema"]["types"]}
        ready = service.http.get("/readyz").json()
        metrics = scraped(service.url).text
    with closing(sqlite3.connect(tmp_path / "quakes.db")) as connection:
        made = {name.partition(".")[0] for (name,) in connection.execute("SELECT name FROM sqlite_master")}

    assert not types & {"TriggerEvent", "TriggerEndpoint", "Delivery", "Watch", "TriggerEventStatus"}
    assert "deliveries" not in ready
    assert "deliver" not in metrics
    assert "earthquake-events" in made
    assert not made & {design.name for design in tables_of([DOMAIN])}


def test_there_is_no_scope_command_or_part_of_the_template() -> None:
    template = quakegraph("tables", "template", settings=WITHOUT).stdout
    token = quakegraph("token", "--help", settings=WITHOUT).stdout
    command = quakegraph("deliver", settings=WITHOUT)

    assert not [design for design in tables_of([DOMAIN]) if design.resource in template]
    assert "triggers:" not in token
    assert command.exit_code == 2
    assert command.stderr.splitlines()[-1].startswith("Error: No such command 'deliver'.")
