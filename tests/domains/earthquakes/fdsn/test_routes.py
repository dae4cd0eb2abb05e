"""The routes of the service: address → status, attacks included; refusals in FDSN's text."""

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from graph.domains.earthquakes.fdsn.parameters import PARAMETERS
from graph.domains.earthquakes.scopes import EVENTS_READ
from tests.bearers import bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.request_logs.test_logged import logged
from tests.service import Service, running, settings
from tests.store.samples import HeldClock

ROOT = "/fdsnws/event/1"
OTHER_DAY = quote("2023-08-01T00:00:00+02:00")

STATUSES = {
    # as FDSN describes
    f"{ROOT}/": 200,
    ROOT: 307,  # to the line above
    f"{ROOT}/version": 200,
    f"{ROOT}/catalogs": 200,
    f"{ROOT}/contributors": 200,
    f"{ROOT}/application.wadl": 200,
    f"{ROOT}/query?limit=1": 200,
    f"{ROOT}/query?starttime=2023-08-01&endtime=2023-08-02T00:00:00.000000&minmagnitude=4.5": 200,
    f"{ROOT}/query?start=2023-08-01T00:00:00Z&end=2023-08-02T00:00:00.5&minmag=4&maxmag=5&format=text": 200,
    f"{ROOT}/query?minlat=-90&maxlat=90&minlon=-180&maxlon=180&limit=1": 200,
    f"{ROOT}/query?lat=38&lon=-122&minradius=0&maxradius=5&limit=1": 200,
    f"{ROOT}/query?latitude=38&longitude=238&maxradiuskm=500&limit=1": 200,
    f"{ROOT}/query?latitude=38&longitude=-122&maxradius=5&minlatitude=38&limit=1": 200,
    f"{ROOT}/query?mindepth=-10&maxdepth=700&limit=1": 200,
    f"{ROOT}/query?magnitudetype=ML,mw&eventtype=earthquake,quarry%20blast&limit=1": 200,
    f"{ROOT}/query?eventtype=other%20event,quarry_blast&limit=1": 200,
    f"{ROOT}/query?includeallorigins=True&includeallmagnitudes=False&includearrivals=t&limit=1": 200,
    f"{ROOT}/query?catalog=USGS&contributor=nc,us&limit=1": 200,
    f"{ROOT}/query?updatedafter=2023-08-01&limit=1": 200,
    f"{ROOT}/query?orderby=magnitude-asc&limit=1&offset=2": 200,
    f"{ROOT}/query?format=geojson&limit=1": 200,
    f"{ROOT}/query?format=csv&limit=1": 200,
    f"{ROOT}/query?format=quakeml&limit=1": 200,
    f"{ROOT}/query?minfelt=1&minsig=1&maxsig=900&mincdi=1&maxgap=300": 200,
    f"{ROOT}/query?alertlevel=green&reviewstatus=reviewed": 200,
    f"{ROOT}/query?includedeleted=true&limit=1": 200,
    f"{ROOT}/query?starttime={OTHER_DAY}&limit=1": 200,
    f"{ROOT}/count": 200,
    f"{ROOT}/count?format=xml&minmagnitude=2.45": 200,
    f"{ROOT}/count?format=geojson&eventid=nc73919986": 200,
    # no data
    f"{ROOT}/query?minmagnitude=9.9": 204,
    f"{ROOT}/query?minmagnitude=9.9&nodata=204&format=text": 204,
    f"{ROOT}/query?minmagnitude=9.9&nodata=404": 404,
    f"{ROOT}/query?minmagnitude=9.9&nodata=404&format=geojson": 404,
    f"{ROOT}/query?minmagnitude=9.9&format=geojson": 200,  # as USGS: a collection without features
    f"{ROOT}/query?eventid=unknown1": 204,
    f"{ROOT}/query?offset=2125": 204,
    f"{ROOT}/query?offset=999999999999999": 204,
    f"{ROOT}/query?starttime=0001-01-01&endtime=0001-01-02": 204,
    # no such service
    "/fdsnws/dataselect/1/application.wadl": 404,
    "/fdsnws/dataselect/1/query": 404,
    "/fdsnws/station/1/application.wadl": 404,
    "/fdsnws/event/2/query": 404,
    f"{ROOT}/queryauth": 404,
    f"{ROOT}/query/": 307,
    f"{ROOT}/../1/version/x": 404,
    # parameters
    f"{ROOT}/query?minmagnitud=4": 400,
    f"{ROOT}/query?MinMagnitude=4": 400,
    f"{ROOT}/query?minmagnitude=4&minmagnitude=4": 400,
    f"{ROOT}/query?minmagnitude=4&minmag=4": 400,
    f"{ROOT}/query?minmagnitude=": 400,
    f"{ROOT}/query?minmagnitude": 400,
    f"{ROOT}/query?=4": 400,
    f"{ROOT}/query?&minmagnitude=4": 400,
    f"{ROOT}/query?minmagnitude=4&": 200,
    f"{ROOT}/query?producttype=shakemap": 400,
    f"{ROOT}/query?minmagnitude=nan": 400,
    f"{ROOT}/query?minmagnitude=inf": 400,
    f"{ROOT}/query?minmagnitude=1e999": 400,
    f"{ROOT}/query?minmagnitude=1e-200": 400,
    f"{ROOT}/query?minmagnitude=1_0": 400,
    f"{ROOT}/query?minmagnitude=%D9%A4": 400,  # an Arabic digit
    f"{ROOT}/query?minmagnitude=0x4": 400,
    f"{ROOT}/query?minmagnitude=5&maxmagnitude=4": 400,
    f"{ROOT}/query?starttime=2023-08-02&endtime=2023-08-01": 400,
    f"{ROOT}/query?starttime=1691020800000": 400,
    f"{ROOT}/query?starttime=20230801": 400,
    f"{ROOT}/query?starttime=2023-W31-2": 400,
    f"{ROOT}/query?starttime=2023-08-01%2000:00:00": 400,
    f"{ROOT}/query?starttime=2023-02-30": 400,
    f"{ROOT}/query?starttime=2023-08-01T24:00:01": 400,
    f"{ROOT}/query?starttime=2023-08-01T23:59:60": 400,
    f"{ROOT}/query?starttime=now": 400,
    f"{ROOT}/query?starttime=0000-01-01": 400,
    f"{ROOT}/query?starttime=0001-01-01T00:00:00%2B01:00": 400,
    f"{ROOT}/query?starttime=9999-12-31T23:59:59-01:00": 400,
    f"{ROOT}/query?minlatitude=91": 400,
    f"{ROOT}/query?minlatitude=5&maxlatitude=4": 400,
    f"{ROOT}/query?minlongitude=361": 400,
    f"{ROOT}/query?minlongitude=190": 400,
    f"{ROOT}/query?latitude=5": 400,
    f"{ROOT}/query?maxradius=5": 400,
    f"{ROOT}/query?latitude=5&longitude=5&maxradius=181": 400,
    f"{ROOT}/query?latitude=5&longitude=5&maxradius=1&maxradiuskm=111": 400,
    f"{ROOT}/query?latitude=5&longitude=5&minradius=3&maxradius=2": 400,
    f"{ROOT}/query?mindepth=10&maxdepth=5": 400,
    f"{ROOT}/query?limit=0": 400,
    f"{ROOT}/query?limit=-1": 400,
    f"{ROOT}/query?limit=1.5": 400,
    f"{ROOT}/query?limit=9999999999999999": 400,
    f"{ROOT}/query?offset=0": 400,
    f"{ROOT}/query?orderby=place": 400,
    f"{ROOT}/query?format=kml": 400,
    f"{ROOT}/query?nodata=200": 400,
    f"{ROOT}/query?includeallorigins=maybe": 400,
    f"{ROOT}/query?eventtype=dragon": 400,
    f"{ROOT}/query?eventtype=earthquake,": 400,
    f"{ROOT}/query?alertlevel=blue": 400,
    f"{ROOT}/count?format=csv": 400,
    # attacks
    f"{ROOT}/query?eventid=%00": 400,
    f"{ROOT}/query?eventid=%FF": 400,
    f"{ROOT}/query?eventid=%ED%A0%80": 400,  # half a surrogate pair
    f"{ROOT}/query?eventid=a%0D%0ASet-Cookie:x=1": 400,
    f"{ROOT}/query?eventid={','.join(f'x{number}' for number in range(501))}": 400,
    f"{ROOT}/query?eventid={'x' * 1025}": 400,
    f"{ROOT}/query?catalog=%27%20OR%201=1--": 204,
    f"{ROOT}/query?eventid=%27;DROP%20TABLE%20x": 204,
    f"{ROOT}/query?eventid=quakeml:quakegraph/event/~ff~": 204,
    f"{ROOT}/query?eventid=../../etc/passwd": 204,
    f"{ROOT}/query?{'&'.join(f'a{number}=1' for number in range(300))}": 400,
    f"{ROOT}/query?contributor={','.join('abcdefghij' * 6)}": 204,  # ten names, several times each
    f"{ROOT}/query?x=%3Cscript%3Ealert(1)%3C/script%3E": 400,
    f"{ROOT}/query?starttime=2023-08-01T00:00:00.{'9' * 5000}": 400,
    f"{ROOT}/query?minmagnitude={'9' * 5000}": 400,
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, week_file: Path, _usgs: UsgsServer) -> Iterator[Service]:
    """A service with the week whose answers have a thousand events at most."""
    copied = tmp_path_factory.mktemp("small") / "week.db"
    copied.write_bytes(week_file.read_bytes())
    with running(settings(copied, _usgs, fdsn_max_events=1000), clock=HeldClock()) as service:
        yield service


@pytest.mark.parametrize(("address", "status"), STATUSES.items(), ids=lambda value: str(value)[:60])
def test_a_request_is_answered_with_its_status(week: Service, address: str, status: int) -> None:
    answer = week.http.get(address)

    assert answer.status_code == status, answer.text
    if status == 204:
        assert answer.content == b""
        assert "content-type" not in answer.headers
    if status == 400:
        assert answer.text.startswith("Error 400: Bad Request\n\n")
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert len(answer.content) < 4000
    if status == 404 and address.startswith(ROOT + "/query?"):
        assert answer.text.startswith("Error 404: Not Found\n\n")


def test_a_refusal_has_fdsns_layout(week: Service) -> None:
    answer = week.http.get(f"{ROOT}/query?minmagnitude=five")

    assert answer.text == (
        "Error 400: Bad Request\n\n"
        "`minmagnitude` must be a number from -100 to 100.\n\n"
        f"Usage details are available from {week.url}{ROOT}/\n\n"
        f"Request:\n{week.url}{ROOT}/query?minmagnitude=five\n\n"
        "Request Submitted:\n2023-11-14T22:13:20\n\n"
        "Service version:\n1.2.0\n"
    )


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_get_is_allowed(week: Service, method: str) -> None:
    """FDSN describes POST for dataselect and station alone."""
    answer = week.http.request(method, f"{ROOT}/query")

    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert answer.text.startswith("Error 405: Method Not Allowed\n\n")


def test_head_has_the_status_and_no_body(week: Service) -> None:
    for query, status in {"limit=1": 200, "minmagnitude=9.9": 204, "limit=0": 400}.items():
        answer = week.http.head(f"{ROOT}/query?{query}")
        assert (answer.status_code, answer.content) == (status, b"")


def test_bytes_that_are_no_url_are_refused(week: Service) -> None:
    host, port = week.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            f"GET {ROOT}/query?eventid=".encode() + b"\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        with connection.makefile("rb") as answer:
            assert b" 400 " in answer.readline()


def test_too_much_data_is_refused_with_the_count_and_a_division_that_fits(small: Service) -> None:
    answer = small.http.get(f"{ROOT}/query?format=text")

    assert answer.status_code == 413
    assert answer.text.startswith(
        "Error 413: Request would return too much data\n\n2,124 events match, and one answer has 1,000 at most."
    )
    parts = [line for line in answer.text.splitlines() if line.startswith("starttime=")]
    assert parts == [
        "starttime=2023-07-28&endtime=2023-07-30T23:59:59.999",
        "starttime=2023-07-31&endtime=2023-08-01T23:59:59.999",
        "starttime=2023-08-02&endtime=2023-08-04T23:59:59.999",
    ]
    lines = [small.http.get(f"{ROOT}/query?format=text&{part}").text.splitlines()[1:] for part in parts]
    assert len({line for part in lines for line in part}) == sum(map(len, lines)) == 2124


def test_a_limit_is_no_reason_to_refuse_unless_it_is_too_large_too(small: Service) -> None:
    for query, status in {
        "limit=1000": 200,
        "limit=1001": 413,
        "limit=5000&offset=1125": 200,
        "offset=1125": 200,
        "offset=1124": 413,
        "minmagnitude=0.95": 413,
        "minmagnitude=1.95": 200,
        "eventtype=explosion": 200,
        "eventtype=earthquake&limit=1001": 413,
        "orderby=magnitude": 413,
        "orderby=magnitude&limit=1000": 200,
    }.items():
        assert small.http.head(f"{ROOT}/query?{query}").status_code == status, query
    assert "2,071 events match" in small.http.get(f"{ROOT}/query?eventtype=earthquake").text


def test_access_is_that_of_the_graph(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "closed.db", usgs, public_read=False)) as closed:
        statuses = {
            (): 401,
            (("Authorization", "Bearer forged"),): 401,
            tuple(bearer(EVENTS_READ).items()): 204,
        }
        for headers, status in statuses.items():
            answer = httpx.get(f"{closed.url}{ROOT}/query", headers=dict(headers))
            assert answer.status_code == status
            if status == 401:
                assert answer.text.startswith("Error 401: Unauthorized\n\n")
                assert answer.headers["www-authenticate"] == "Bearer"
        forbidden = httpx.get(f"{closed.url}{ROOT}/version", headers=bearer("logs:read"))  # type: ignore[arg-type]
        assert forbidden.status_code == 403
        assert forbidden.text.startswith("Error 403: Forbidden\n\n")


def test_rows_cost_points_and_a_caller_without_points_gets_429(
    tmp_path: Path, week_file: Path, usgs: UsgsServer
) -> None:
    (tmp_path / "week.db").write_bytes(week_file.read_bytes())
    with running(settings(tmp_path / "week.db", usgs, rate_limit=150)) as service:
        answers = [service.http.get(f"{ROOT}/query?limit=1000") for _ in range(4)]

    assert answers[0].status_code == 200
    refused = [answer for answer in answers if answer.status_code != 200]
    assert refused
    for answer in refused:
        assert answer.text.startswith("Error 429: Too Many Requests\n\n")
        assert int(answer.headers["retry-after"]) >= 1


def test_the_service_can_be_switched_off(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "off.db", usgs, fdsn=False)) as service:
        assert service.http.get(f"{ROOT}/version").status_code == 404


def test_requests_are_logged_and_counted(tmp_path: Path, week_file: Path, usgs: UsgsServer) -> None:
    file = tmp_path / "week.db"
    file.write_bytes(week_file.read_bytes())
    before = len(logged(file))
    with running(settings(file, usgs), clock=HeldClock()) as service:
        service.http.get(f"{ROOT}/query?minmagnitude=4.5&limit=10&starttime=2023-08-01")
        service.http.get(f"{ROOT}/count?limit=x")
        service.http.get(f"{ROOT}/query?minmagnitude=9")
        metrics = service.http.get("/metrics").text

    assert f'quakegraph_fields_total{{code="OK",field="{ROOT}/query"}} 2.0' in metrics
    assert f'quakegraph_fields_total{{code="BAD_USER_INPUT",field="{ROOT}/count"}} 1.0' in metrics
    names = ("route", "status", "error", "minmagnitude", "starttime", "pageSize", "resultCount")
    assert [[log.get(name) for name in names] for log in logged(file)[before:]] == [
        [f"{ROOT}/query", 200, None, 4.5, 1_690_848_000_000, 10, 10],
        [f"{ROOT}/count", 400, "BAD_USER_INPUT", None, None, None, None],
        [f"{ROOT}/query", 204, None, 9, None, None, 0],
    ]


def test_the_wadl_names_every_parameter_once(week: Service) -> None:
    text = week.http.get(f"{ROOT}/application.wadl").text

    query = text.partition('id="query"')[2].partition("</method>")[0]
    assert all(query.count(f'<param name="{parameter.name}" ') == 1 for parameter in PARAMETERS)
    assert f'<resources base="{week.url}{ROOT}/">' in text
