"""The entities of the domains: what the documents say of them, and that no two can be taken for each other."""

import pytest

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS, TIME_ORDERED
from graph.domains.earthquakes.entities import DAY_SUMMARY, EVENT, YEAR_SUMMARY
from graph.domains.earthquakes.model import Event
from graph.domains.request_logs.entities import LOG
from graph.domains.service_logs.entities import LOGS, SERVICE_LOG, TIMESTAMP_INDEX
from graph.domains.triggers.entities import EVENT_TYPE_INDEX, EVENTS, STATUS_INDEX, TRIGGER_EVENT
from graph.reference import in_words, markdown
from graph.store.attributes import Attribute, JsonDocument, Real, Text, Truth, Whole
from graph.store.values import InvalidItem
from tests.documents.markdown import document
from tests.domains.earthquakes.builders import an_event

KEYS = {"pk", "sk", "gsi1pk", "gsi1sk", "entity", "timestamp#event_id", "event_type#timestamp", "status#timestamp"}
"""What the documents list beside attributes: the store makes them of templates."""

# The documents' own lists, "Attributes" of the entities, by type; what is optional ends with a question mark.
DOCUMENTED = {
    EVENT: {
        "String": "pk sk entity eventId place dayBucket gsi1pk source",
        "Number": "eventTsMs mag lat lon depth? gsi1sk ingestedAt",
    },
    LOG: {
        "String": "pk sk entity logType requestId route upstreamHash? error?",
        "Number": "timestamp status latencyMs fetched? upserted? skipped? retries? upstreamSize? starttime? endtime? "
        "minmagnitude? pageSize? resultCount? bucketsScanned? ttl",
        "Boolean": "hasNextToken?",
    },
    SERVICE_LOG: {
        "String": "service_name log_id log_type level message",
        "Number": "timestamp ttl?",
        "Map": "metadata?",
    },
    TRIGGER_EVENT: {
        "String": "user_id timestamp#event_id event_id event_type status timestamp event_type#timestamp "
        "status#timestamp",
        "Number": "ttl retry_count",
        "Map": "payload metadata?",
    },
}
TYPES: dict[str, tuple[type[Attribute], ...]] = {
    "String": (Text,),
    "Number": (Whole, Real),
    "Boolean": (Truth,),
    "Map": (JsonDocument,),
}


def test_every_documented_attribute_is_declared_as_it_is_documented() -> None:
    for entity, attributes in DOCUMENTED.items():
        for kind, name in ((kind, name) for kind, names in attributes.items() for name in names.split()):
            if name in KEYS:
                assert name not in entity.named
            else:
                attribute = entity.named[name.rstrip("?")]
                assert isinstance(attribute, TYPES[kind]), name
                assert (attribute.optional, attribute.in_key_alone) == (name.endswith("?"), False), name


def test_attributes_beyond_the_documented_ones_are_optional() -> None:
    listed = {name.rstrip("?") for names in DOCUMENTED[EVENT].values() for name in names.split()}
    assert all(each.optional for each in EVENT.attributes if each.name not in listed)


def test_the_table_of_an_events_attributes_is_its_record() -> None:
    rows = [
        markdown((f"`{each.attribute}`", in_words(each.kind), each.description)).rstrip()
        for each in Event.stored().values()
        if each.kind
    ]
    lines = document("docs/dynamodb.md").section("Attributes of an event").splitlines()
    assert [line for line in lines if line.startswith("| `")] == rows, "\n".join(rows)


def test_keys_are_made_as_documented() -> None:
    primary = EARTHQUAKE_EVENTS.primary
    sources = {
        entity.name: [(template.key.name, template.source) for both in entity.templates.values() for template in both]
        for entity in (EVENT, LOG, DAY_SUMMARY, YEAR_SUMMARY)
    }
    assert sources == {
        "EVENT": [("pk", "EVENT#{eventId}"), ("sk", "EVENT"), ("gsi1pk", "DAY#{dayBucket}"), ("gsi1sk", "{eventTsMs}")],
        "LOG": [("pk", "LOG#{day}"), ("sk", "{timestamp}#{requestId}")],
        "DAY_SUMMARY": [("pk", "SUMMARY#{year}"), ("sk", "DAY#{day}")],
        "YEAR_SUMMARY": [("pk", "SUMMARY#YEARS"), ("sk", "YEAR#{year}")],
    }
    assert LOG.templates[primary].sort.render([1_691_118_537_000, "id"]) == "1691118537000#id"
    keys = {index.name: tuple(each.source for each in both) for index, both in SERVICE_LOG.templates.items()}
    assert keys == {
        LOGS.primary.name: ("{service_name}", "{timestamp}"),
        TIMESTAMP_INDEX.name: ("{log_type}", "{timestamp}"),
    }
    keys = {index.name: tuple(each.source for each in both) for index, both in TRIGGER_EVENT.templates.items()}
    assert keys == {
        EVENTS.primary.name: ("{user_id}", "{timestamp}#{event_id}"),
        EVENT_TYPE_INDEX.name: ("{user_id}", "{event_type}#{timestamp}"),
        STATUS_INDEX.name: ("{user_id}", "{status}#{timestamp}"),
    }
    assert EVENT.position_names(TIME_ORDERED) == ("dayBucket", "eventTsMs", "eventId")


def test_an_event_beyond_the_documented_bounds_is_no_item() -> None:
    item = an_event().item
    EVENT.check(item)
    for attribute, value in {
        "mag": 10.1,
        "eventId": 65 * "a",
        "place": 513 * "a",
        "lat": 90.1,
        "lon": -181,
        "depth": -1,
    }.items():
        with pytest.raises(InvalidItem):
            EVENT.check({**item, attribute: value})
    with pytest.raises(InvalidItem):
        EVENT.check({**item, "mag": -2.1})
