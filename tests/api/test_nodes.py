"""Objects by their ids: `event`, `node` and `nodes`, and global ids that mean the same for ever."""

import re
from base64 import urlsafe_b64encode
from uuid import UUID

import pytest

from graph.api.relay import global_id, key_of
from graph.core.errors import BadUserInput
from graph.domains.data_files.schema.runs import Run
from graph.domains.earthquakes.schema.events import Event
from tests.service import Service

NEWEST = "MTpFdmVudDpuYzczOTE5OTg2"  # of the event nc73919986
PANAMA = "MTpFdmVudDp1czYwMDBreGZs"  # of the event us6000kxfl
NODES = "query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id ... on Event { eventId } } }"


def an_id(text: str) -> str:
    """A global id that says just this."""
    return urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def test_an_event_that_is_not_there_is_null(week: Service) -> None:
    for event_id in ("us1", "", "US6000KXFL", "us6000kxfl ", "x" * 64, "x" * 65, "x" * 10_000, "\0", "\n", "地震"):
        assert week.ask("query($id: ID!) { event(eventId: $id) { id } }", {"id": event_id}) == {"event": None}


def test_an_events_global_id_is_the_same_for_ever_and_fit_for_a_url(week: Service) -> None:
    newest = {"__typename": "Event", "id": NEWEST}
    assert week.ask('{ event(eventId: "nc73919986") { __typename id } }') == {"event": newest}
    assert week.ask("{ events(first: 1) { nodes { __typename id } } }") == {"events": {"nodes": [newest]}}
    assert week.ask(f'{{ node(id: "{NEWEST}") {{ __typename id }} }}') == {"node": newest}
    for type_name, key in (("Event", "~" * 64), ("RequestLog", f"1700000000000#{UUID(int=0)}")):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,128}", global_id(type_name, key))


def test_nodes_come_in_the_order_of_their_ids_with_duplicates(week: Service) -> None:
    newest, panama = {"id": NEWEST, "eventId": "nc73919986"}, {"id": PANAMA, "eventId": "us6000kxfl"}
    gone = an_id("1:Event:us1")

    found = week.ask(NODES, {"ids": [PANAMA, gone, NEWEST, PANAMA, gone]})

    assert found == {"nodes": [panama, None, newest, panama, None]}
    assert week.ask(NODES, {"ids": []}) == {"nodes": []}


def test_one_request_takes_at_most_a_hundred_nodes(week: Service) -> None:
    ids = [node["id"] for node in week.ask("{ events(first: 100) { nodes { id } } }")["events"]["nodes"]]

    assert [node["id"] for node in week.ask(NODES, {"ids": ids})["nodes"]] == ids
    assert week.codes(NODES, {"ids": [*ids, NEWEST]}) == ["BAD_USER_INPUT"]


MALFORMED = (
    *("", "x", "nc73919986", NEWEST + "=", NEWEST + "\n", "=" + NEWEST, " " + NEWEST, NEWEST.replace("M", "N", 1)),
    *("é" * 20, "x" * 100_000, an_id("1:Event:us1").swapcase()),
    *map(an_id, ("", "1:Event:", "1:event:us1", "Event:us1", "0:Event:us1", "2:Event:us1", "01:Event:us1")),
    *map(an_id, ("١:Event:us1", "1:Place:us1", "1:Query:us1", "1:Event:us1\n", "1:Event:" + "x" * 501)),
    an_id("9" * 5000 + ":Event:us1"),
)


def test_a_malformed_node_id_is_refused(week: Service) -> None:
    for node_id in MALFORMED:
        assert week.codes("query($id: ID!) { node(id: $id) { id } }", {"id": node_id}) == ["BAD_USER_INPUT"], node_id
        answer = week.answer(NODES, {"ids": [node_id, NEWEST]})
        assert answer["data"] == {"nodes": [None, {"id": NEWEST, "eventId": "nc73919986"}]}, node_id
        assert [(each["path"], each["extensions"]["code"]) for each in answer["errors"]] == [
            (["nodes", 0], "BAD_USER_INPUT")
        ]


def test_an_argument_takes_the_global_id_and_the_own_id_alike() -> None:
    assert [key_of(Event, each, "eventId") for each in (PANAMA, "us6000kxfl")] == ["us6000kxfl"] * 2
    with pytest.raises(BadUserInput, match="`runId` is an id of the type Event: pass one of the type Run"):
        key_of(Run, PANAMA, "runId")


def test_a_field_that_fails_is_null_alone(week: Service) -> None:
    page = "events(first: 1, after: $after) { nodes { eventId } }"
    mutation = """mutation { first: ingestEvents(input: {events: []}) { fetched }
      second: deleteWatch(input: {watchId: "none"}) { deletedId }
      third: ingestEvents(input: {events: []}) { fetched } }"""

    answer = week.answer(f"query($after: String) {{ wrong: {page} {page.replace('$after', 'null')} }}", {"after": "x"})
    changed = week.answer(mutation)

    assert answer["data"] == {"wrong": None, "events": {"nodes": [{"eventId": "nc73919986"}]}}
    assert [(each["path"], each["extensions"]["code"]) for each in answer["errors"]] == [(["wrong"], "INVALID_CURSOR")]
    assert changed["data"] == {"first": {"fetched": 0}, "second": None, "third": {"fetched": 0}}


def test_a_request_log_that_is_not_there_is_null(week: Service) -> None:
    for key in ("1700000000000#", "1700000000000", "#", "x#y", "-1#y", "99999999999999#y", "1700000000000#y", "1.5#y"):
        assert week.ask(NODES, {"ids": [an_id(f"1:RequestLog:{key}")]}) == {"nodes": [None]}
