"""The entities of the domains: what the documents say of them, and that no two can be taken for each other."""

from graph.domains.earthquakes.entities import EVENT
from graph.domains.earthquakes.model import Event
from graph.domains.request_logs.entities import LOG
from graph.domains.service_logs.entities import SERVICE_LOG
from graph.domains.triggers.entities import TRIGGER_EVENT
from graph.reference import in_words, markdown
from graph.store.attributes import Attribute, JsonDocument, Real, Text, Truth, Whole
from tests.documents.markdown import document

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
