"""What the dashboard's page and files say to any client."""

import os
import re
from pathlib import Path

import httpx
from graphql import build_schema, parse, validate

from graph.pages import dashboard
from tests.pages.dashboard.documents import documents
from tests.schemas import printed
from tests.service import Service, running
from tests.settings import Settings


def test_every_document_is_one_of_the_schema() -> None:
    schema = build_schema(printed())

    assert {name: validate(schema, parse(text)) for name, text in documents().items()} == {
        name: [] for name in documents()
    }


def test_the_page_is_revalidated_sent_once_and_may_do_only_what_it_needs(week: Service) -> None:
    page = week.http.get("/")

    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert page.headers["Cache-Control"] == "no-cache"
    for known in (page.headers["ETag"], f'"other", W/{page.headers["ETag"].removeprefix("W/")}', "*"):
        again = week.http.get("/", headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", page.headers["ETag"])
    assert week.http.get("/", headers={"If-None-Match": '"other"'}).status_code == 200
    assert page.headers["Content-Security-Policy"].split("; ") == [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "worker-src 'self'",
        "require-trusted-types-for 'script'",
        "trusted-types third-party",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_a_head_is_that_of_the_get(week: Service) -> None:
    for path in ("/", f"/dashboard/{dashboard.VERSION}/main.js", "/events/us6000kxp7", "/events/us0nothing"):
        plain = {"Accept-Encoding": "identity"}
        head, get = week.http.head(path, headers=plain), week.http.get(path, headers=plain)
        assert (head.status_code, head.content) == (404 if path == "/events/us0nothing" else 200, b"")
        own, of_get = ({**answer.headers, "date": "", "x-request-id": ""} for answer in (head, get))
        assert own == of_get
        assert own.keys() >= {"content-type", "content-length"}


def test_a_file_may_be_cached_for_ever(week: Service) -> None:
    types = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
    types |= {".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png"}
    for name, path in dashboard.FILES.items():
        answer = week.http.get(f"/dashboard/{dashboard.VERSION}/{name}")
        assert (answer.status_code, answer.content) == (200, path.read_bytes())
        assert answer.headers["Content-Type"] == types[path.suffix]
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_everything_that_the_pages_name_is_a_file(week: Service) -> None:
    pages = week.http.get("/").text + week.http.get("/events/us6000kxp7").text
    named = set(re.findall(rf"dashboard/{dashboard.VERSION}/([\w./-]+)", pages))

    assert {"main.js", "main.css", "event/event_page.js", "event/event_page.css"} <= named <= dashboard.FILES.keys()
    for name in named:
        assert week.http.get(f"/dashboard/{dashboard.VERSION}/{name}").content == dashboard.FILES[name].read_bytes()


def test_everything_that_a_module_imports_is_a_file() -> None:
    for name, path in dashboard.FILES.items():
        imported = re.findall(r'(?:from |import\()"(\.[\w./-]+)"', path.read_text()) if name.endswith(".js") else []
        assert {os.path.normpath(Path(name).parent / other) for other in imported} <= dashboard.FILES.keys(), name


def test_only_the_files_of_the_page_and_of_its_version_are_served(week: Service) -> None:
    for path in ("index.html", "__init__.py", "..%2F__init__.py", "%2e%2e/__init__.py", ""):
        assert week.http.get(f"/dashboard/{dashboard.VERSION}/{path}").status_code == 404, path
    assert week.http.get("/dashboard/0123456789abcdef/main.js").status_code == 404


def test_without_the_dashboard_the_root_redirects_to_the_graph_and_events_have_no_pages(tmp_path: Path) -> None:
    with running(Settings(store=f"sqlite:///{tmp_path}/empty.db", dashboard=False)) as service:
        assert service.http.get("/").headers["Location"] == "/graphql"
        assert service.http.get(f"/dashboard/{dashboard.VERSION}/main.js").status_code == 404
        answer = service.http.get("/events/us1")
        assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/json")


def test_the_page_size_is_within_the_maximum_of_the_graph(tmp_path: Path, week: Service) -> None:
    assert 'data-page-size="500"' in week.http.get("/").text
    with running(Settings(store=f"sqlite:///{tmp_path}/empty.db", max_page_size=100)) as service:
        assert 'data-page-size="100"' in service.http.get("/").text


def test_a_page_of_the_map_costs_a_quarter_of_what_one_may(week: Service) -> None:
    body = {"query": documents()["Events"], "variables": {"first": dashboard.PAGE_SIZE}}

    answer: httpx.Response = week.http.post("/graphql", json=body, headers={"GraphQL-Cost": "report"})

    cost = answer.json()["extensions"]["cost"]
    assert cost["points"] < 0.3 * cost["limit"]
