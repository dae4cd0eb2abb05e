"""What the address of an event answers to any client: a description for previews, redirects, statuses."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from graph.core.times import rfc3339_of_millis
from graph.pages import dashboard
from tests.processes import TIMEOUT_S
from tests.service import Service, running
from tests.settings import Settings

JAVA = "us6000kxp7"
NOON = 1691064000000
DESCRIPTION = "4 August 2023, 00:31:44 UTC, 578.0 km deep, at 6.12° S 113.15° E."


def store(service: Service, event_id: str, updated: int = NOON, **others: Any) -> None:
    event = {"eventId": event_id, "eventTsMs": NOON, "mag": 4.5, "lat": 1.0, "lon": 2.0, **others}
    event["updatedAt"] = rfc3339_of_millis(updated)
    mutation = "mutation($events: [EventInput!]!) { ingestEvents(input: {events: $events}) { upserted } }"
    service.ask(mutation, {"events": [event]})


def described(html: str) -> dict[str, str]:
    """The descriptions in the head of a page, by their names."""
    return dict(re.findall(r'<meta (?:name|property)="([\w:]+)" content="(.*?)">', html))


def test_the_head_describes_the_event_with_a_small_picture(week: Service) -> None:
    answer = week.http.get(f"/events/{JAVA}")

    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert re.findall("<title>(.*?)</title>", answer.text) == ["M 5.5 earthquake, Java, Indonesia"]
    assert re.findall("<h1>(.*?)</h1>", answer.text) == ["M 5.5 earthquake, Java, Indonesia"]
    assert f'<link rel="canonical" href="{week.url}/events/{JAVA}">' in answer.text  # search engines want it absolute
    found = described(answer.text)
    assert found["description"] == found["og:description"] == DESCRIPTION
    assert found["og:title"] == "M 5.5 earthquake, Java, Indonesia"
    assert found["twitter:card"] == "summary_large_image"
    assert found["og:image"].startswith(f"{week.url}/dashboard/{dashboard.VERSION}/")
    image = week.http.get(urlsplit(found["og:image"]).path)
    assert image.headers["Content-Type"] == "image/png"
    assert len(image.content) < 60_000
    width, height = image.content[16:20], image.content[20:24]  # of the PNG's first chunk
    assert (int.from_bytes(width), int.from_bytes(height)) == (1200, 630)


def test_an_unknown_event_is_a_404_with_a_page(week: Service) -> None:
    for event_id in ("us0nothing", "x" * 65, "%3Cscript%3E"):
        answer = week.http.get(f"/events/{event_id}")
        assert (answer.status_code, answer.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
        assert "<h1>Not Found</h1>" in answer.text
        assert "<script" not in answer.text
        assert re.findall(r'<a href="(.+?)">', answer.text) == ["../", "../graphql"]


def test_another_id_leads_to_the_own_one_for_good_and_a_merged_event_to_what_it_turned_out_to_be(
    service: Service,
) -> None:
    store(service, "ci9")
    store(service, "us1", ids=["us1", "pas3"])
    answer = service.http.get("/events/pas3")
    assert (answer.status_code, answer.headers["Location"]) == (301, "../events/us1")
    assert answer.headers["Cache-Control"] == "no-cache"
    assert service.http.get("/events/pas3", follow_redirects=True).url.path == "/events/us1"

    store(service, "us1", ids=["us1", "ci9"], updated=NOON + 2)

    for event_id in ("us1", "pas3"):
        answer = service.http.get(f"/events/{event_id}")
        assert (answer.status_code, answer.headers["Location"]) == (301, "../events/ci9")
    assert service.http.get("/events/ci9").status_code == 200


def test_a_deleted_event_is_gone_and_says_so(service: Service) -> None:
    store(service, "us1", place="Brig, Switzerland")
    store(service, "us1", place="Brig, Switzerland", updated=NOON + 2, status="deleted")

    answer = service.http.get("/events/us1")

    assert answer.status_code == 410
    assert "Brig, Switzerland" in answer.text
    assert described(answer.text)["description"].endswith("Its source has deleted this event.")
    again = service.http.get("/events/us1", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 410


def test_text_of_an_event_does_not_turn_what_stands_behind_it(service: Service) -> None:
    store(service, "us1", place="\u202egpj\u2066.exe")

    answer = service.http.get("/events/us1")

    assert described(answer.text)["og:title"].endswith(", gpj.exe")
    assert not {*answer.text} & {"\u202e", "\u2066"}


def test_text_of_an_event_never_becomes_markup(service: Service) -> None:
    place = """"><script>alert(1)</script>{packages}<img src=x onerror='alert(2)'>"""
    store(service, """a"><b>{title}'&/c""", place=place, type="<i>quake</i>")

    answer = service.http.get("/events/a%22%3E%3Cb%3E%7Btitle%7D'%26%2Fc")

    assert answer.status_code == 200
    assert re.findall(r"<(?:script|img|b|i)\b[^>]*>", answer.text) == [
        f'<script type="module" src="../dashboard/{dashboard.VERSION}/event/event_page.js">',
        f'<img src="../dashboard/{dashboard.VERSION}/icon.svg" alt="" width="28" height="28">',
    ]
    assert answer.text.count("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;{packages}&lt;img") == 3
    assert 'data-event-id="a&quot;&gt;&lt;b&gt;{title}&#x27;&amp;/c"' in answer.text
    assert f'<link rel="canonical" href="{service.url}/events/a%22%3E%3Cb%3E%7Btitle%7D%27%26%2Fc">' in answer.text


@pytest.mark.parametrize(("path", "root"), [("/events/us%2F1", "../"), ("/events/us/1", "../../")])
def test_an_id_may_have_a_slash(service: Service, path: str, root: str) -> None:
    store(service, "us/1", ids=["us/1", "nc/2"])

    answer = service.http.get(path)

    assert answer.status_code == 200
    assert f'data-root="{root}"' in answer.text
    assert answer.url.join(f"{root}graphql").path == "/graphql"
    assert service.http.get("/events/nc/2").headers["Location"] == "../../events/us%2F1"


def test_the_page_is_revalidated_sent_once_and_may_do_what_the_dashboard_may(week: Service) -> None:
    page = week.http.get(f"/events/{JAVA}")

    assert page.headers["Cache-Control"] == "no-cache"
    again = week.http.get(f"/events/{JAVA}", headers={"If-None-Match": page.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert week.http.get("/events/us6000kxnn").headers["ETag"] != page.headers["ETag"]
    assert page.headers["Content-Security-Policy"] == week.http.get("/").headers["Content-Security-Policy"]


def test_the_page_is_counted_under_one_route(service: Service) -> None:
    store(service, "us1")
    service.http.get("/events/us1")
    service.http.get("/events/us2")

    counts = service.http.get("/metrics").text.splitlines()
    assert [line for line in counts if line.startswith("quakegraph_fields_total") and "/events" in line] == [
        'quakegraph_fields_total{code="OK",field="/events"} 2.0'
    ]


def test_without_public_reading_the_page_tells_nothing(tmp_path: Path) -> None:
    store_url = f"sqlite:///{tmp_path}/own.db"
    with running(Settings(store=store_url, public_read=False)) as service:
        store(service, "us1", place="Brig, Switzerland", ids=["us1", "pas3"])
        with httpx.Client(base_url=f"{service.url}/events/", timeout=TIMEOUT_S) as http:
            pages = [http.get(event_id) for event_id in ("us1", "pas3", "us0nothing")]

    for page, event_id in zip(pages, ("us1", "pas3", "us0nothing"), strict=True):
        assert page.status_code == 200
        assert page.text.replace(event_id, "ID") == pages[0].text.replace("us1", "ID")
    assert "<title>Event</title>" in pages[0].text
    names = {"viewport": "width=device-width, initial-scale=1", "robots": "noindex"}
    assert described(pages[0].text) == names


def test_a_caller_who_asks_too_often_is_told_so_on_a_page(tmp_path: Path) -> None:
    with running(Settings(store=f"sqlite:///{tmp_path}/empty.db", rate_limit=1)) as service:
        service.http.get("/events/us1")
        answer = service.http.get("/events/us1")

    assert (answer.status_code, answer.headers["Content-Type"]) == (429, "text/html; charset=utf-8")
    assert int(answer.headers["Retry-After"]) > 0
    assert "<h1>Too Many Requests</h1>" in answer.text


def test_the_pages_know_what_the_service_has(tmp_path: Path) -> None:
    store_url = f"sqlite:///{tmp_path}/own.db"
    served = {"domains": ("earthquakes",), "fdsn": False}
    for settings, expected in (({}, {"sightings", "felt", "watches", "fdsn"}), (served, set())):
        with running(Settings.model_validate({"store": store_url, **settings})) as service:
            store(service, "us1")
            for path in ("/", "/events/us1"):
                (tag,) = re.findall("<html.*?>", service.http.get(path).text)
                assert set(re.findall(r"data-(sightings|felt|watches|fdsn)\b", tag)) == expected
