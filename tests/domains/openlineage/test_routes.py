"""Whatever comes to the routes of OpenLineage is taken in, or refused with a code; nothing breaks the service."""

import gzip
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domains.openlineage.builders import dataset, run_event, run_id
from tests.service import Service, running
from tests.settings import Settings

PATH, BATCH = "/api/v1/lineage", "/api/v1/lineage/batch"
SIZE = {"inputFacets": {"inputStatistics": {"size": 12.0}}}
EVENT = run_event(1, "COMPLETE", [dataset("raw.nc", "v1") | SIZE], [dataset("rad.nc", "v1")]) | {
    "run": {
        "runId": run_id(1),
        "facets": {
            "nominalTime": {"nominalStartTime": "2024-01-01T00:00:00Z"},
            "parent": {"run": {"runId": run_id(2)}, "job": {"namespace": "airflow", "name": "daily"}},
            "processing_engine": {"version": "2.10"},
            "tags": {"tags": [{"key": "configurationHash", "value": "0f", "source": "quakegraph"}]},
        },
    }
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    store = tmp_path_factory.mktemp("openlineage") / "files.db"
    with running(Settings(store=f"sqlite:///{store}")) as service:
        yield service


def send(service: Service, body: bytes, path: str = PATH, **headers: str) -> Any:
    """The answer to a body: its status, and what it says."""
    head = {"content-type": "application/json", **{name.replace("_", "-"): each for name, each in headers.items()}}
    answer = service.http.post(path, content=body, headers=head)
    return answer.status_code, answer.json()


def code_of(answer: tuple[int, Any]) -> tuple[int, str]:
    """The status of a refusal, and its code."""
    status, body = answer
    return status, body["errors"][0]["extensions"]["code"]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values within a value of JSON."""
    yield path
    for at, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(each, (*path, at))


def changed(path: tuple[Any, ...], value: Any) -> Any:
    """The event with another value at a place."""
    event = deepcopy(EVENT)
    if not path:
        return value
    within: Any = event
    for at in path[:-1]:
        within = within[at]
    within[path[-1]] = value
    return event


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(["x" * 2000, "\n", "-1", "2024-02-30T00:00:00Z", "9999-12-31T23:59:59-23:59", "[::", "nope:"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(list(places(EVENT))), values)
def test_an_event_with_anything_anywhere_is_taken_or_refused_with_a_code(
    service: Service, path: tuple[Any, ...], value: Any
) -> None:
    status, body = send(service, orjson.dumps(changed(path, value)))

    assert (status == 200) == ("errors" not in body and body.get("status") == "success")
    if "errors" in body:
        assert status in (400, 422)
        assert body["errors"][0]["extensions"]["code"] in {
            *("INVALID_EVENT", "BAD_USER_INPUT", "PROVENANCE_CYCLE", "UNKNOWN_VERSION", "ALREADY_GENERATED")
        }


@given(st.binary(max_size=200) | values.map(orjson.dumps))
def test_a_body_that_is_no_event_is_refused(service: Service, body: bytes) -> None:
    status, answer = send(service, body)

    assert status in (400, 422) or answer["summary"]["successful"] == 0 == answer["summary"]["received"]


def test_a_refusal_names_the_place(service: Service) -> None:
    wrong: list[tuple[tuple[Any, ...], Any]] = [
        *((("eventType",), "FINISHED"), (("run", "runId"), "1"), (("job", "name"), "")),
        (("inputs", 0, "name"), "a\tb"),
    ]
    for path, value in wrong:
        answer = send(service, orjson.dumps(changed(path, value)))

        place = "event" + "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in path)
        assert code_of(answer) == (422, "INVALID_EVENT"), place
        assert f"`{place}`" in answer[1]["errors"][0]["message"]
    assert send(service, orjson.dumps(changed(("run",), None)))[0] == 200  # without a run, it is the event of a job


def test_a_detail_that_cannot_be_read_is_left_out_or_repaired_with_a_warning_that_names_it(service: Service) -> None:
    facets, run = ("run", "facets"), ("run", "facets", "parent", "run", "runId")
    doubtful: list[tuple[tuple[Any, ...], Any, str]] = [
        (("eventTime",), "2024-01-01T00:00:00", "is taken as 2024-01-01T00:00:00Z"),
        (("eventTime",), "2024-01-01 00:00:00,5+0100", "is taken as 2024-01-01T00:00:00.5+01:00"),
        (("eventTime",), "2024-01-01", "must be a time"),
        (("eventTime",), None, "must be a text"),
        *(((name,), "me", "must be a URI") for name in ("producer", "schemaURL")),
        (run, "manual__2024-01-01", "must be a UUID"),
        ((*facets, "parent"), None, "must be an object"),
        ((*facets, "others"), None, "must be an object"),
        *(((*facets, "nominalTime", f"nominal{end}Time"), "soon", "must be a time") for end in ("Start", "End")),
        ((*facets, "processing_engine", "version"), 2.1, "must be a text"),
        ((*facets, "tags", "tags"), 1, "must be a list"),
        ((*facets, "tags", "tags", 0, "key"), 5, "must be a text"),
        (facets, [], "must be an object"),
        (("inputs", 0, "facets"), [], "must be an object"),
        *((("outputs",), {}, "must be a list"), (("outputs", 0), None, "must be an object")),
        (("outputs", 0, "facets", "version", "datasetVersion"), 7, "must be a text"),
        (("outputs", 0, "facets", "version", "datasetVersion"), "v" * 401, "must have at most 400 characters"),
        (("inputs", 0, "inputFacets", "inputStatistics", "size"), 1.5, "must be a whole number of bytes"),
    ]
    for path, value, what in doubtful:
        status, body = send(service, orjson.dumps(changed(path, value)))

        assert (status, body["status"]) == (200, "success"), path
        place = "event" + "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in path)
        (warning,) = body["warnings"]
        assert (warning["index"], f"`{place}`" in warning["message"]) == (0, True), warning
        assert what in warning["message"]
        assert warning["message"].endswith((" It is left out.", "0Z.", "+01:00."))
    long = changed((*facets, "tags", "tags", 0, "value"), "f" * 129)
    body = send(service, orjson.dumps([EVENT, {**EVENT, "schemaURL": None, "eventType": "complete"}, *[long] * 101]))[1]
    assert (body["status"], {each["index"] for each in body["warnings"]}) == ("success", {*range(2, 102)})
    assert "`configuration-hash`" in body["warnings"][0]["message"]


@pytest.mark.parametrize("path", [PATH, BATCH], ids=["lineage", "batch"])
def test_a_batch_tells_which_of_its_events_are_refused(service: Service, path: str) -> None:
    events = [EVENT, {**EVENT, "run": 1}, EVENT]

    status, body = send(service, orjson.dumps(events), path)

    assert status == 200
    assert body["status"] == "partial_success"
    assert body["summary"] == {"received": 3, "successful": 2, "failed": 1}
    (failed,) = body["failed_events"]
    assert (failed["index"], failed["extensions"]["code"]) == (1, "INVALID_EVENT")
    assert send(service, orjson.dumps([{}, 1]), path)[0] == 422
    assert send(service, b"[]", path)[0] == 200


def test_a_body_may_be_gzip_and_nothing_else_and_has_bounds(service: Service) -> None:
    body, large = orjson.dumps(EVENT), b" " * (4 * 1024 * 1024 + 1)
    many_values = b"[" + b"{}," * 1_300_000 + b"{}]"  # which would take too much memory

    assert send(service, gzip.compress(body), content_encoding="gzip")[0] == 200
    for refused, head, status in (
        (body, {"content_encoding": "gzip"}, 400),
        (body, {"content_encoding": "br"}, 415),
        (body, {"content_type": "text/plain"}, 415),
        (large, {}, 413),
        (gzip.compress(large), {"content_encoding": "gzip"}, 413),
        (many_values, {}, 413),
    ):
        assert code_of(send(service, refused, **head)) == (status, "BAD_REQUEST")
    assert send(service, b"[" * 90_000)[0] == 400


def test_a_run_with_too_many_files_is_refused(service: Service) -> None:
    for names, refusal in (
        ([f"{at:0350}" for at in range(1000)], (400, "BAD_USER_INPUT")),
        ([f"f{at}" for at in range(1001)], (422, "INVALID_EVENT")),
    ):
        event = run_event(5, "START", [dataset(name) for name in names])
        assert code_of(send(service, orjson.dumps(event))) == refusal

    assert service.ask(f'{{ run(runId: "{run_id(5)}") {{ algorithm }} }}') == {"run": None}


def test_events_need_the_scope(service: Service) -> None:
    answer = service.http.post(PATH, json=EVENT, headers={"Authorization": ""})

    assert answer.status_code in (401, 403)
