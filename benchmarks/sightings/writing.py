"""Reports and confirmations a second, by many users over some connections."""

from random import Random

from benchmarks.many_requests import CONNECTIONS, ask, asked, send_all
from benchmarks.markdown import table
from benchmarks.servers import Connection, Server
from benchmarks.sightings.users import tokens

USERS = 1000
REPORT = """mutation ($input: ReportSightingInput!) {
  reportSighting(input: $input) { created confirmed sighting { sightingId confirmations } }
}"""
CONFIRM = """mutation ($id: ID!) {
  confirmSighting(input: {sightingId: $id}) { confirmed sighting { confirmations expiresAt } }
}"""


def measured(server: Server, reports: int) -> str:
    """So many reports, and all users' confirmations of one sighting. Returns a table."""
    users = tokens(server.contender, USERS)
    given = {"input": {"category": "FIRE", "area": "The hot place"}}
    hot = asked(Connection(server), users[0], REPORT, given)["reportSighting"]
    rng = Random(6)  # noqa: S311 - reproducible on purpose

    def report(number: int) -> None:
        place = {"lat": rng.uniform(-80, 80), "lon": rng.uniform(-180, 180)}
        given = {"category": "SHAKING", **place, "text": f"The lamps swung {number} times."}
        if not ask(server, users[number % USERS], REPORT, {"input": given})["reportSighting"]["created"]:
            raise RuntimeError("a report was none")

    def confirm(number: int) -> None:
        ask(server, users[number], CONFIRM, {"id": hot["sighting"]["sightingId"]})

    rows = [
        ["reports, each somewhere else", *send_all(server, report, range(reports)).cells, f"{server.memory_mb():.0f}"]
    ]
    taken = send_all(server, confirm, range(1, USERS))
    rows.append([f"confirmations of one sighting by {USERS - 1} users", *taken.cells, f"{server.memory_mb():.0f}"])
    # The service has closed the first connection by now, since it was idle.
    again = asked(Connection(server), users[1], CONFIRM, {"id": hot["sighting"]["sightingId"]})["confirmSighting"]
    if again["confirmed"] or again["sighting"]["confirmations"] != USERS - 1:
        raise RuntimeError(f"the confirmations were miscounted: {again}")
    return table([f"{CONNECTIONS} connections", "a second", "per CPU second", "MB"], rows)
