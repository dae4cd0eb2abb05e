"""One rule for each thing in the whole schema, whatever the domain. The exceptions stand in tables."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLObjectType,
    get_named_type,
    get_nullable_type,
    is_non_null_type,
)

from graph.api.relay import type_name_of
from graph.core.names import camel_case
from graph.domains import DOMAINS
from tests.schemas import schema

EVENTS = ("Event", "EventVersion", "SeismicEvent")

IN_MILLISECONDS = {
    **{f"{of}.eventTsMs": "time" for of in (*EVENTS, "EventInput")},
    **{f"{of}.ingestedAt": "ingestedTime" for of in EVENTS},
    "RequestLog.timestamp": "requestedAt",
    **{f"{of}.starttime": "startTime" for of in ("RequestLog", "PopularFilter")},
    **{f"{of}.endtime": "endTime" for of in ("RequestLog", "PopularFilter")},
}
"""Each attribute of the documents that is a time in epoch milliseconds → the `DateTime` beside it."""

DOCUMENTED = {
    *IN_MILLISECONDS,
    "TriggerEvent.timestamp",
    *(f"{of}.archiveTime" for of in ("DataFile", "DataFileRevision", "DataFileInput", "Calibration")),
    *(f"{of}.ingestTime" for of in ("DataFile", "DataFileRevision", "DataFileInput")),
    *(f"{of}.{name}PacketTime" for of in ("SortableMetadata", "SortableMetadataInput") for name in ("first", "last")),
}
"""Fields of the documents' attributes, with the names and units of the documents."""

BESIDE_DOCUMENTED = {f"{of}.ingestedTime" for of in EVENTS}
"""Instants whose names with `At` are those of documented attributes."""

BOUNDS = {"AsOf.recorded", "AsOf.published", "Query.events(updatedSince:)", "IngestRecentInput.updatedSince"}
"""Instants that say which catalogue, or which changes of it."""

PAGING = {"first", "after", "last", "before"}
FURTHER_ARGUMENTS = {
    "Query.events": {"deleted", "updatedSince"},
    "Query.eventVersions": {"asOf", "deleted"},
    "Event.nearby": {"radiusKm", "days"},
    "Query.deliveries": {"endpointId", "afterSequence"},
}
"""What a connection takes besides a filter, an order and a page: whose it is, and what a filter does not select."""

DEFINITIONS = GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType

Member = GraphQLField | GraphQLInputField | GraphQLArgument


def members() -> Iterator[tuple[str, str, Member]]:
    """The coordinate, the name and the definition of each field and argument of the schema."""
    for type_name, of in schema.type_map.items():
        if type_name.startswith("__") or not isinstance(of, DEFINITIONS):
            continue
        for name, field in of.fields.items():
            yield f"{type_name}.{name}", name, field
            for argument, taken in getattr(field, "args", {}).items():
                yield f"{type_name}.{name}({argument}:)", argument, taken


def of_type(*names: str) -> dict[str, tuple[str, Member]]:
    """The members whose type has one of these names, by their coordinates."""
    return {at: (name, each) for at, name, each in members() if get_named_type(each.type).name in names}


def is_list(member: Member) -> bool:
    return isinstance(get_nullable_type(member.type), GraphQLList)


def fields_of(root: str) -> dict[str, GraphQLField]:
    """The fields of Query, Mutation or Subscription."""
    of: Any = schema.type_map[root]
    return dict(of.fields)


CONNECTIONS = {
    at: (name, field)
    for at, name, field in members()
    if isinstance(field, GraphQLField) and get_named_type(field.type).name.endswith("Connection")
}


def test_an_instant_is_a_date_time_whose_name_ends_with_at() -> None:
    """The origin of an earthquake is `time`; a time range has `startTime` and `endTime`."""
    named = re.compile(r".*At|at|time|startTime|endTime")
    others = {at for at, (name, _) in of_type("DateTime").items() if not named.fullmatch(name)}

    assert others - DOCUMENTED == BESIDE_DOCUMENTED | BOUNDS


def test_milliseconds_since_1970_are_only_what_documents_have_so_beside_a_date_time() -> None:
    types = {at: str(each.type) for at, _, each in members()}

    assert of_type("EpochMillis").keys() == IN_MILLISECONDS.keys()
    for at, beside in IN_MILLISECONDS.items():
        assert types[f"{at.partition('.')[0]}.{beside}"] == types[at].replace("EpochMillis", "DateTime")


def test_a_documented_attribute_says_so() -> None:
    described = {at: each.description or "" for at, _, each in members()}

    assert {at for at in DOCUMENTED if "documented" not in described[at].lower()} == set()


def test_a_duration_is_in_milliseconds_or_seconds_and_says_which() -> None:
    assert {at for at, name, _ in members() if re.search(r"Hours|Minutes|[a-z]Millis", name)} == set()


def test_a_connection_takes_a_filter_an_order_and_a_page() -> None:
    further = {at: set(field.args) - PAGING - {"filter", "orderBy"} for at, (_, field) in CONNECTIONS.items()}

    assert {at: given for at, given in further.items() if given} == FURTHER_ARGUMENTS


@pytest.mark.parametrize("at", CONNECTIONS)
def test_a_connection_has_the_arguments_and_the_fields_of_all(at: str) -> None:
    _, field = CONNECTIONS[at]
    of: Any = get_named_type(field.type)

    assert {name: str(field.args[name].type) for name in PAGING} == {
        "first": "Int",
        "after": "String",
        "last": "Int",
        "before": "String",
    }
    assert list(of.fields)[:5] == ["edges", "nodes", "pageInfo", "totalCount", "totalCountReason"]
    for argument, ending in (("filter", "Filter"), ("orderBy", "Order")):
        if argument in field.args:
            assert get_named_type(field.args[argument].type).name.endswith(ending)


def test_a_list_of_a_filter_has_a_plural_name_and_no_twin() -> None:
    filters = {name: of for name, of in schema.type_map.items() if name.endswith("Filter")}
    lists = {
        (name, field): of.fields
        for name, of in filters.items()
        if isinstance(of, GraphQLInputObjectType)
        for field, each in of.fields.items()
        if is_list(each) and field not in ("or", "polygon")
    }

    assert {key for key in lists if not key[1].endswith("s") and key[1] != "metadata"} == set()
    assert {key for key, fields in lists.items() if re.sub("(ie)?s$", "", key[1]) in fields.keys() - {key[1]}} == set()


def test_an_id_is_an_id() -> None:
    """An argument named by an id takes a global id, and the record's own; an object's own id has its noun."""
    others = {
        at
        for at, name, each in members()
        if re.fullmatch(r"ids?|[a-z]\w*Ids?", name) and get_named_type(each.type).name != "ID"
    }

    assert others == NO_NODES
    of_any_type = {at for at, name, each in members() if name in ("id", "ids") and not isinstance(each, GraphQLField)}
    assert of_any_type - NO_NODES == {"Query.node(id:)", "Query.nodes(ids:)"}


def test_an_own_id_has_the_noun_of_its_type() -> None:
    nodes = [node for domain in DOMAINS for node in domain.nodes]
    keys = {f"{type_name_of(node)}.{camel_case(key)}" for node in nodes if (key := node.found_by.key)}

    assert {each for each in keys if not each.endswith("Id")} == {"DataFile.name"}
    assert str(fields_of("Query")["dataFile"].args["name"].type) == "String!"  # a file is named, as documented


NO_NODES = {
    *(f"{of}.ids" for of in (*EVENTS, "EventInput")),  # as any network names it
    *(f"{of}.{name}" for of in ("ServiceLog", "ServiceLogInput") for name in ("traceId", "spanId")),
    *("ServiceLogFilter.traceId", "CreateTriggerEventInput.correlationId"),
}
"""Ids of what is no object of the graph."""


@pytest.mark.parametrize("name", fields_of("Mutation"))
def test_a_mutation_has_one_input_and_one_payload_of_its_own(name: str) -> None:
    mutation = fields_of("Mutation")[name]
    noun = f"{name[0].upper()}{name[1:]}"

    assert {each: get_named_type(given.type).name for each, given in mutation.args.items()} == {"input": f"{noun}Input"}
    assert str(mutation.type) == f"{noun}Payload"
    payload: Any = get_named_type(mutation.type)
    assert ("deletedId" in payload.fields) == name.startswith(("delete", "hide"))


def test_a_rejection_says_which_one_it_is_about_why_and_what_to_do() -> None:
    for at, each in ((at, each) for at, name, each in members() if name == "rejections"):
        of: Any = get_named_type(each.type)
        assert {name: str(of.fields[name].type) for name in ("index", "message")} == {
            "index": "Int!",
            "message": "String!",
        }, at
        assert isinstance(get_named_type(of.fields["code"].type), GraphQLEnumType), at


@pytest.mark.parametrize("name", fields_of("Subscription"))
def test_a_subscription_sends_notices_and_takes_the_filter_of_the_list(name: str) -> None:
    subscription, listed = fields_of("Subscription")[name], fields_of("Query")[name]
    notice: Any = get_named_type(subscription.type)

    assert {"kind", "node", "nodeId", "matches", "dropped", "cursor"} <= notice.fields.keys()
    assert isinstance(get_named_type(notice.fields["kind"].type), GraphQLEnumType)
    assert str(subscription.args["filter"].type) == str(listed.args["filter"].type)


@pytest.mark.parametrize("root", ["Query", "Mutation"])
def test_a_root_field_may_be_null(root: str) -> None:
    assert [name for name, field in fields_of(root).items() if is_non_null_type(field.type)] == []


def test_an_amount_of_bytes_is_a_byte_count() -> None:
    sizes = {at for at, name, _ in members() if re.fullmatch(r"size|\w+Size|\w*[bB]ytes", name) and name != "pageSize"}

    assert sizes == of_type("ByteCount").keys()


def test_what_is_deprecated_says_from_which_date_it_may_be_gone() -> None:
    enums = [(name, of) for name, of in schema.type_map.items() if isinstance(of, GraphQLEnumType)]
    reasons = {
        **{at: each.deprecation_reason for at, _, each in members()},
        **{f"{name}.{each}": value.deprecation_reason for name, of in enums for each, value in of.values.items()},
    }

    assert {at for at, reason in reasons.items() if reason and not re.search(r"\d{4}-\d{2}-\d{2}", reason)} == set()
