"""The schema as a file, and the page that links to it."""

from pathlib import Path

from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.schemas import printed
from tests.service import Service, running, settings

PATH = "/schema.graphql"
BROWSER = {"Accept": "text/html"}
LINK = f'<link rel="alternate" type="text/plain" title="Schema" href="{PATH}">'


def test_the_schema_of_the_running_service_is_a_file(week: Service) -> None:
    plain = {"Accept-Encoding": "identity"}
    answer, head = week.http.get(PATH, headers=plain), week.http.head(PATH, headers=plain)

    assert (answer.status_code, answer.text, head.status_code, head.content) == (200, printed(), 200, b"")
    for each in (answer, head):
        assert each.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert each.headers["Cache-Control"] == "no-cache"
        assert each.headers["ETag"] == answer.headers["ETag"]
    again = week.http.get(PATH, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert week.http.post(PATH).status_code == 405
    assert LINK in week.http.get("/graphql", headers=BROWSER).text


def test_it_is_that_of_the_domains_that_are_on(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "own.db", usgs, domains=("earthquakes",))) as service:
        assert "type Sighting " not in service.http.get(PATH).text


def test_it_is_there_for_those_who_may_introspect(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "own.db", usgs, introspection=False)) as service:
        assert service.http.get(PATH).status_code == 404
        assert LINK not in service.http.get("/graphql", headers=BROWSER).text


def test_a_wrong_token_is_refused(week: Service) -> None:
    assert week.http.get(PATH, headers={"Authorization": "Bearer nonsense"}).status_code == 401
