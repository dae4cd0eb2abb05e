"""The routes of the service: address → status, attacks included; refusals in FDSN's text."""

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import httpx
import pytest

from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.domains.fdsn.parameters import PARAMETERS
from tests.bearers import bearer
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.domains.request_logs.test_logged import logged
from tests.processes import TIMEOUT_S
from tests.service import Service, running, settings
from tests.store.samples import HeldClock

ROOT = "/fdsnws/event/1"
OTHER_DAY = quote("2023-08-01T00:00:00+02:00")

STATUSES = {
    # as FDSN describes
    f"{ROOT}/": 200,
    ROOT: 307,  # to the line above
    **{f"{ROOT}/{name}": 200 for name in ("version", "catalogs", "contributors", "application.wadl")},
    f"{ROOT}/query?includeallorigins=True&includeallmagnitudes=False&includearrivals=t&limit=1": 200,
    f"{ROOT}/query?format=quakeml&limit=1": 200,
    f"{ROOT}/query?limit=1&": 200,
    f"{ROOT}/query?starttime={OTHER_DAY}&limit=1": 200,
    # as programs write numbers, and the leap seconds of RFC 3339
    f"{ROOT}/query?limit=20.0&minfelt=1.&minmagnitude=1e-300&maxmagnitude=9&minlatitude=-1e-300": 200,
    f"{ROOT}/query?starttime=2016-12-31T23:59:60&endtime=2024-01-01&limit=1": 200,
    f"{ROOT}/count?format=xml&minmagnitude=2.45": 200,
    f"{ROOT}/count?format=geojson&eventid=nc73919986": 200,
    # no data
    f"{ROOT}/query?minmagnitude=9.9&nodata=204&format=text": 204,
    f"{ROOT}/query?minmagnitude=9.9&nodata=404": 404,
    f"{ROOT}/query?minmagnitude=9.9&nodata=404&format=geojson": 404,
    f"{ROOT}/query?minmagnitude=9.9&format=geojson": 200,  # as USGS: a collection without features
    f"{ROOT}/query?eventid=unknown1": 204,
    f"{ROOT}/query?offset=2125": 204,
    f"{ROOT}/query?offset=999999999999999": 204,
    f"{ROOT}/query?starttime=0001-01-01&endtime=0001-01-02": 204,
    # no such service
    **dict.fromkeys(("/fdsnws/dataselect/1/query", "/fdsnws/station/1/application.wadl", "/fdsnws/event/2/query"), 404),
    f"{ROOT}/queryauth": 404,
    f"{ROOT}/query/": 307,
    f"{ROOT}/../1/version/x": 404,
    # attacks
    **{f"{ROOT}/query?catalog={text}": 204 for text in ("%27%20OR%201=1--", "%27;DROP%20TABLE%20x")},
    **{f"{ROOT}/query?eventid={text}": 204 for text in ("quakeml:quakegraph/event/~ff~", "../../etc/passwd")},
    f"{ROOT}/query?contributor={','.join('abcdefghij' * 6)}": 204,  # ten names, several times each
    f"{ROOT}/count?format=csv": 400,
}

REFUSED: dict[str, tuple[str, ...]] = {
    "minmagnitud": ("4",),
    "MinMagnitude": ("4",),
    "productcode": ("us6000kxp7",),
    "": ("4",),
    "&minmagnitude": ("4",),
    "minmagnitude": (
        *("", "nan", "inf", "1e999", "1_0", "0x4", "%D9%A4", "9" * 5000),
        *("4&minmagnitude=4", "4&minmag=4", "5&maxmagnitude=4"),
    ),
    "starttime": (
        *("2023-08-02&endtime=2023-08-01", "1691020800000", "20230801", "2023-W31-2", "2023-08-01%20", "now"),
        *("2023-02-30", "2023-08-01T24:00:01", "2023-08-01T23:59:60", "2023-08-01T00:00:00." + "9" * 5000),
        *("0000-01-01", "0001-01-01T00:00:00%2B01:00", "9999-12-31T23:59:59-01:00"),
    ),
    "minlatitude": ("91", "5&maxlatitude=4"),
    "minlongitude": ("361", "190"),
    "latitude": ("5", "5&longitude=5&maxradius=181", "5&longitude=5&minradius=3&maxradius=2"),
    "maxradius": ("5", "1&latitude=5&longitude=5&maxradiuskm=111"),
    "mindepth": ("10&maxdepth=5",),
    "limit": ("0", "-1", "1.5", "1.05", ".0", "9999999999999999"),
    "offset": ("0",),
    "orderby": ("place",),
    "format": ("kmz",),
    "kmlcolorby": ("size",),
    "nodata": ("200",),
    "includeallorigins": ("maybe",),
    "eventtype": ("dragon", "earthquake,"),
    "alertlevel": ("blue",),
    "eventid": (
        *("%00", "%FF", "%ED%A0%80", "a%0D%0ASet-Cookie:x=1", "x" * 1025),  # the third is half a surrogate pair
        ",".join(f"x{number}" for number in range(501)),
    ),
    "x": ("%3Cscript%3Ealert(1)%3C/script%3E", "1" + "".join(f"&a{number}=1" for number in range(300))),
}
"""Values that FDSN or common sense forbid, by the parameter."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, week_file: Path, _usgs: UsgsServer) -> Iterator[Service]:
    """A service with the week whose answers have a thousand events at most."""
    copied = tmp_path_factory.mktemp("small") / "week.db"
    copied.write_bytes(week_file.read_bytes())
    with running(settings(copied, _usgs, fdsn_max_events=1000), clock=HeldClock()) as service:
        yield service


def test_a_request_is_answered_with_its_status(week: Service) -> None:
    for address, status in STATUSES.items():
        answer = week.http.get(address)

        assert answer.status_code == status, address
        if status == 204:
            assert answer.content == b""
            assert "content-type" not in answer.headers
        if status == 404 and address.startswith(f"{ROOT}/query?"):
            assert answer.text.startswith("Error 404: Not Found\n\n")


def test_a_query_that_breaks_a_rule_is_refused_as_plain_text(week: Service) -> None:
    queries = [f"{name}={value}" for name, values in REFUSED.items() for value in values]
    for query in ["minmagnitude", *queries]:
        answer = week.http.get(f"{ROOT}/query?{query}")

        assert answer.status_code == 400, query
        assert answer.text.startswith("Error 400: Bad Request\n\n")
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert len(answer.content) < 4000


def test_an_address_of_usgss_search_page_works_with_the_host_exchanged(week: Service) -> None:
    area = "maxlatitude=62.962&minlatitude=-59.322&maxlongitude=-26.367&minlongitude=-195.273"
    when = "starttime=2023-08-01%2000:00:00&endtime=2023-08-03%2023:59:59"
    found, as_kml = {}, "query.kml?kmlcolorby=depth&kmlanimated=true&"
    for path in ("query.geojson?", "query.csv?", "query.quakeml?", as_kml, "query?format=csv&"):
        answer = week.http.get(f"{ROOT}/{path}{when}&{area}&minmagnitude=3&orderby=time&producttype=shakemap")
        assert answer.status_code == 200, answer.text
        found[path] = answer
    events = found["query.geojson?"].json()["features"]
    assert len(events) == len(found["query.csv?"].text.splitlines()) - 1 > 5
    assert found["query.csv?"].text == found["query?format=csv&"].text
    assert found["query.quakeml?"].text.count("<event ") == len(events)
    kml = ElementTree.fromstring(found[as_kml].content)  # noqa: S314 # our own
    points, colours, times = (
        [each.text for each in kml.iterfind(f".//{{http://www.opengis.net/kml/2.2}}{name}")]
        for name in ("coordinates", "color", "when")
    )
    assert points == ["{},{}".format(*each["geometry"]["coordinates"]) for each in events]
    shallow = [each["geometry"]["coordinates"][2] <= 33 for each in events]
    assert [each == "ff00a5ff" for each in colours] == shallow
    assert (set(shallow), len(times)) == ({True, False}, len(events))
    assert week.http.get(f"{ROOT}/query.csv?format=geojson").status_code == 400
    assert week.http.get(f"{ROOT}/query.csv?limit=1&spreadsheet=true").status_code == 200
    assert week.http.get(f"{ROOT}/query.csv?format=csv&limit=1").status_code == 200


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


def test_only_get_and_head_are_allowed(week: Service) -> None:
    """FDSN describes POST for dataselect and station alone."""
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        answer = week.http.request(method, f"{ROOT}/query")
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
        assert answer.text.startswith("Error 405: Method Not Allowed\n\n")
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
        statuses = {(): 401, (("Authorization", "Bearer forged"),): 401, tuple(bearer(EVENTS_READ).items()): 204}
        for headers, status in statuses.items():
            answer = httpx.get(f"{closed.url}{ROOT}/query", headers=dict(headers), timeout=TIMEOUT_S)
            assert answer.status_code == status
            if status == 401:
                assert answer.text.startswith("Error 401: Unauthorized\n\n")
                assert answer.headers["www-authenticate"] == "Bearer"
        forbidden = httpx.get(
            f"{closed.url}{ROOT}/version",
            headers=bearer("logs:read"),  # type: ignore[arg-type]
            timeout=TIMEOUT_S,
        )
        assert forbidden.status_code == 403
        assert forbidden.text.startswith("Error 403: Forbidden\n\n")


def test_the_service_can_be_switched_off(tmp_path: Path, usgs: UsgsServer) -> None:
    with running(settings(tmp_path / "off.db", usgs, fdsn=False)) as service:
        assert service.http.get(f"{ROOT}/version").status_code == 404


def test_requests_are_logged_and_counted_and_rows_cost_points(
    tmp_path: Path, week_file: Path, usgs: UsgsServer
) -> None:
    file = tmp_path / "week.db"
    file.write_bytes(week_file.read_bytes())
    before = len(logged(file))
    with running(settings(file, usgs, rate_limit=300), clock=HeldClock()) as service:
        service.http.get(f"{ROOT}/query?minmagnitude=4.5&limit=10&starttime=2023-08-01")
        service.http.get(f"{ROOT}/count?limit=x")
        service.http.get(f"{ROOT}/query.text?minmagnitude=9")
        metrics = service.http.get("/metrics").text
        answers = [service.http.get(f"{ROOT}/query?limit=1000") for _ in range(4)]

    assert f'quakegraph_fields_total{{code="OK",field="{ROOT}/query"}} 2.0' in metrics
    assert f'quakegraph_fields_total{{code="BAD_USER_INPUT",field="{ROOT}/count"}} 1.0' in metrics
    names = ("route", "status", "error", "minmagnitude", "starttime", "pageSize", "resultCount")
    assert [[log.get(name) for name in names] for log in logged(file)[before:][:3]] == [
        [f"{ROOT}/query", 200, None, 4.5, 1_690_848_000_000, 10, 10],
        [f"{ROOT}/count", 400, "BAD_USER_INPUT", None, None, None, None],
        [f"{ROOT}/query", 204, None, 9, None, None, 0],
    ]
    assert answers[0].status_code == 200
    assert answers[-1].text.startswith("Error 429: Too Many Requests\n\n")
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_the_wadl_names_every_parameter_once(week: Service) -> None:
    text = week.http.get(f"{ROOT}/application.wadl").text

    query = text.partition('id="query"')[2].partition("</method>")[0]
    assert all(query.count(f'<param name="{parameter.name}" ') == 1 for parameter in PARAMETERS)
    assert f'<resources base="{week.url}{ROOT}/">' in text
