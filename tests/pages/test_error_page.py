"""What a path gets that does not exist: browsers a web page, programs a GraphQL error."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from tests.service import Service, running
from tests.settings import Settings

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


def test_a_browser_gets_a_page_for_an_unknown_path_that_loads_nothing_and_may_run_nothing(week: Service) -> None:
    answer, head = (week.http.request(method, "/nowhere", headers=BROWSER) for method in ("GET", "HEAD"))

    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert answer.headers["Vary"] == "Accept, Accept-Encoding"
    assert "<h1>Not Found</h1>" in answer.text
    assert re.findall(r'<a href="(.+?)">(.+?)</a>', answer.text) == [("./", "Dashboard"), ("graphql", "GraphiQL")]
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    allowed = f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"
    assert answer.headers["Content-Security-Policy"].split("; ") == [
        "default-src 'none'",
        f"style-src {allowed}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    assert "<script" not in answer.text
    assert (head.status_code, head.content) == (404, b"")


def test_the_links_lead_to_the_root_from_any_depth(week: Service) -> None:
    for path in ("/a/b/c", "/a//b", "/dashboard/0123456789abcdef/main.js", "/fdsnws/station/1/query", "/a%2Fb/c"):
        answer = week.http.get(path, headers=BROWSER)
        (home, _) = re.findall(r'<a href="(.+?)">', answer.text)
        assert answer.url.join(home).path == "/", path


def test_a_program_gets_a_graphql_error(week: Service) -> None:
    for accept in ("*/*", "application/json", "text/html;q=0, */*", "image/avif,image/webp,*/*;q=0.8"):
        answer = week.http.get("/nowhere", headers={"Accept": accept})
        assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/json"), accept
        assert answer.headers["Vary"] == "Accept"
        assert answer.json() == {"errors": [{"message": "Not Found", "extensions": {"code": "BAD_REQUEST"}}]}


def test_a_method_that_a_path_does_not_take_is_refused_with_those_that_it_takes(week: Service) -> None:
    headers: dict[str, str]
    for headers in (BROWSER, {}):
        answer = week.http.delete("/healthz", headers=headers)
        assert answer.status_code == 405
        assert sorted(answer.headers["Allow"].split(", ")) == ["GET", "HEAD"]
        assert ("<h1>Method Not Allowed</h1>" in answer.text) is bool(headers)


def test_without_web_pages_there_are_no_links_to_them(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/empty.db", dashboard=False, graphiql=False)
    with running(settings) as service:
        answer = service.http.get("/nowhere", headers=BROWSER)

    assert answer.status_code == 404
    assert "<a " not in answer.text
