"""People who report and confirm what they see, while a test looks at the dashboard."""

from dataclasses import dataclass
from typing import Any

import httpx
from playwright.async_api import Page

from graph.access.callers import Scope
from tests.bearers import bearer
from tests.processes import TIMEOUT_S
from tests.store.samples import NOON

AT_NOON = f"""
Date = class extends Date {{
  constructor(...given) {{ super(...(given.length ? given : [{NOON}])); }}
  static now() {{ return {NOON}; }}
}};
"""
ANNA, BEN, TESTER = "anna", "ben", "tester"  # the last of whom looks at the dashboard
RIDGECREST = {"lat": 35.77, "lon": -117.6}


@dataclass(frozen=True)
class People:
    """Users of a service."""

    url: str

    def ask(self, who: str, query: str, **variables: Any) -> dict[str, Any]:
        """The data of the answer to a user with every scope."""
        body = {"query": query, "variables": variables}
        answer = httpx.post(f"{self.url}/graphql", json=body, headers=bearer(subject=who), timeout=TIMEOUT_S).json()
        assert answer.keys() == {"data"}, answer
        data: dict[str, Any] = answer["data"]
        return data

    def report(self, who: str, **report: Any) -> str:
        """The id of the sighting that a user reports: shaking, if nothing else is said."""
        mutation = (
            "mutation ($report: ReportSightingInput!) { reportSighting(input: $report) { sighting { sightingId } } }"
        )
        data = self.ask(who, mutation, report={"category": "SHAKING"} | report)
        sighting_id: str = data["reportSighting"]["sighting"]["sightingId"]
        return sighting_id

    def confirm(self, who: str, sighting_id: str) -> None:
        """Confirm a sighting."""
        self.ask(who, "mutation ($id: ID!) { confirmSighting(input: {sightingId: $id}) { confirmed } }", id=sighting_id)

    def hide(self, sighting_id: str) -> None:
        """Hide a sighting, as a moderator."""
        mutation = 'mutation ($id: ID!) { hideSighting(input: {sightingId: $id, reason: "spam"}) { deletedId } }'
        self.ask("moderator", mutation, id=sighting_id)


async def at_noon(page: Page) -> None:
    """Let the page's time stand at noon, as that of a service with `HeldClock` does. Timers run."""
    await page.add_init_script(AT_NOON)


def address(url: str, *scopes: Scope, path: str = "/") -> str:
    """Where the tester opens a page, with a token that has these scopes; without arguments, all of them."""
    return f"{url}{path}#token={bearer(*scopes)['Authorization'].removeprefix('Bearer ')}"
