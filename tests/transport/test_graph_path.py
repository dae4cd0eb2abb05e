"""The graph's own path is served past the router. Everything else is as it would be without."""

import httpx

from graph.app import GRAPH_PATH, create_app
from tests.service import Service
from tests.settings import Settings


def test_a_slash_behind_the_path_leads_to_it(week: Service) -> None:
    answer = week.http.get(f"{GRAPH_PATH}/?query={{__typename}}", follow_redirects=True)
    assert (answer.status_code, answer.json()) == (200, {"data": {"__typename": "Query"}})


async def test_a_defect_of_the_endpoint_is_answered_in_the_form_of_the_graph() -> None:
    app = create_app(Settings())  # it is not started, so the endpoint has nothing that it needs
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        answer = await http.post(GRAPH_PATH, json={"query": "{ __typename }"})

    assert answer.status_code == 500
    (error,) = answer.json()["errors"]
    assert error["extensions"]["code"] == "INTERNAL_SERVER_ERROR"
