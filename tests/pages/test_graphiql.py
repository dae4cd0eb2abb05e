"""GraphiQL's page: its policy, its files, and its examples, which can be run."""

import json
from pathlib import Path

from graphql import build_schema, parse, validate

from graph.domains import DOMAINS
from graph.domains.data_files.provenance import demo as data_files_demo
from graph.opening import open_services
from graph.pages import graphiql
from tests.pages.examples import EXAMPLES
from tests.schemas import printed
from tests.service import Service
from tests.settings import Settings

A_SIGHTING = "01979a5d-3c40-7d2e-9b6f-4a1c8e0d7f53"  # in the variables of an example


def test_every_example_is_valid() -> None:
    """As GraphiQL asks before it sends anything."""
    schema = build_schema(printed())

    assert [errors for example in EXAMPLES if (errors := validate(schema, parse(example.query)))] == []


async def test_every_example_can_be_run(own_week: Service, tmp_path: Path) -> None:
    async with open_services(Settings(store=f"sqlite:///{tmp_path}/week.db", demo=True), DOMAINS) as services:
        await data_files_demo.prepare(services)
    own_week.ask('mutation { writeServiceLogs(input: {logs: [{service: "search", message: "Ready"}]}) { accepted } }')
    report = "input: {category: FIRE, lat: 37.1305, lon: -121.6544}"
    reported = own_week.ask(f"mutation {{ reportSighting({report}) {{ sighting {{ sightingId }} }} }}")
    values = {
        "example.com": "1.1.1.1",  # else the name is looked up
        A_SIGHTING: reported["reportSighting"]["sighting"]["sightingId"],
    }

    for example in EXAMPLES:
        if "subscription " in example.query:
            continue
        variables = example.variables or "null"
        for name, value in values.items():
            variables = variables.replace(name, value)
        answer, *_ = own_week.ask(example.query, json.loads(variables)).values()
        rows = answer if isinstance(answer, list) else answer.get("nodes") or answer.get("edges") or [answer]
        assert len(rows) > 0, example.query


def test_the_policy_allows_this_origin_and_no_inline_script(week: Service) -> None:
    headers = graphiql.page("/graphql", EXAMPLES, from_package=True).headers

    assert headers["content-security-policy"].split("; ") == [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'sha256-Y/huXlwoYkVyQlxwSVcCi1RCDGDCSVBzDt0hYP9qlTc='",
        "connect-src 'self'",
        "img-src 'self' data:",
        "font-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    served = week.http.get("/graphql", headers={"Accept": "text/html"}).headers
    assert served["vary"] == "Accept, Accept-Encoding"
    assert served.items() >= {name: headers[name] for name in ("x-content-type-options", "referrer-policy")}.items()


def test_from_the_cdn_the_policy_allows_the_pinned_files_and_no_others() -> None:
    headers = graphiql.page("/graphql", EXAMPLES, from_package=False).headers

    assert headers["content-security-policy"].split("; ")[1] == (
        "script-src 'self' https://cdn.jsdelivr.net/npm/react@18.3.1/umd/react.production.min.js"
        " https://cdn.jsdelivr.net/npm/react-dom@18.3.1/umd/react-dom.production.min.js"
        " https://cdn.jsdelivr.net/npm/graphiql@3.8.3/graphiql.min.js"
        " https://cdn.jsdelivr.net/npm/@graphiql/plugin-explorer@3.2.5/dist/index.umd.js"
    )


def test_its_own_files_may_be_cached_for_ever_and_no_others_are_served(week: Service) -> None:
    for name, path in graphiql.OWN.items():
        answer = week.http.get(f"/graphiql/{name}")
        assert (answer.status_code, answer.content) == (200, path.read_bytes())
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
    for name in ("README.md", "graphiql.js", "graphiql.py", "..%2Fgraphiql.py", "..%2f..%2fpyproject.toml", ""):
        assert week.http.get(f"/graphiql/{name}").status_code == 404, name
    assert week.http.get("/graphiql").status_code == 404
