"""The entities of the domains: what the documents say of them, and that no two can be taken for each other."""

import pytest

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS, TIME_ORDERED
from graph.domains.earthquakes.entities import DAY_SUMMARY, EVENT, YEAR_SUMMARY
from graph.domains.request_logs.entities import LOG
from graph.domains.service_logs.entities import LOGS, SERVICE_LOG, TIMESTAMP_INDEX
from graph.domains.triggers.entities import EVENT_TYPE_INDEX, EVENTS, STATUS_INDEX, TRIGGER_EVENT
from graph.store.attributes import Attribute, Document, Real, Text, Truth, Whole
from graph.store.entity import Entity
from graph.store.values import InvalidItem
from tests.domains.earthquakes.builders import an_event

KEYS = {"pk", "sk", "gsi1pk", "gsi1sk", "entity", "timestamp#event_id", "event_type#timestamp", "status#timestamp"}
"""What the documents list beside attributes: the store makes them of templates."""

# The documents' own lists, "Attributes" of the entities: Field | Type | Requirement.
DOCUMENTED_EVENT = """
pk String Required
sk String Required
entity String Required
eventId String Required
eventTsMs Number Required
mag Number Required
place String Required
lat Number Required
lon Number Required
depth Number Optional
dayBucket String Required
gsi1pk String Required
gsi1sk Number Required
source String Required
ingestedAt Number Required
"""
DOCUMENTED_LOG = """
pk String Required
sk String Required
entity String Required
logType String Required
requestId String Required
timestamp Number Required
route String Required
status Number Required
latencyMs Number Required
fetched Number Optional
upserted Number Optional
skipped Number Optional
retries Number Optional
upstreamSize Number Optional
upstreamHash String Optional
starttime Number Optional
endtime Number Optional
minmagnitude Number Optional
pageSize Number Optional
resultCount Number Optional
hasNextToken Boolean Optional
bucketsScanned Number Optional
error String Optional
ttl Number Required
"""
DOCUMENTED_SERVICE_LOG = """
service_name String Required
timestamp Number Required
log_id String Required
log_type String Required
level String Required
message String Required
metadata Map Optional
ttl Number Optional
"""
DOCUMENTED_TRIGGER_EVENT = """
user_id String Required
timestamp#event_id String Required
event_id String Required
event_type String Required
payload Map Required
status String Required
timestamp String Required
ttl Number Required
retry_count Number Required
metadata Map Optional
event_type#timestamp String Required
status#timestamp String Required
"""
TYPES: dict[str, tuple[type[Attribute], ...]] = {
    "String": (Text,),
    "Number": (Whole, Real),
    "Boolean": (Truth,),
    "Map": (Document,),
}


@pytest.mark.parametrize(
    ("entity", "documented"),
    [
        (EVENT, DOCUMENTED_EVENT),
        (LOG, DOCUMENTED_LOG),
        (SERVICE_LOG, DOCUMENTED_SERVICE_LOG),
        (TRIGGER_EVENT, DOCUMENTED_TRIGGER_EVENT),
    ],
)
def test_every_documented_attribute_is_declared_as_it_is_documented(entity: Entity, documented: str) -> None:
    for line in documented.strip().splitlines():
        name, kind, requirement = line.split()
        if name in KEYS:
            assert name not in entity.named
            continue
        attribute = entity.named[name]
        assert isinstance(attribute, TYPES[kind]), name
        assert (attribute.optional, attribute.in_key_alone) == (requirement == "Optional", False), name


def test_attributes_beyond_the_documented_ones_are_optional() -> None:
    listed = {line.split()[0] for line in DOCUMENTED_EVENT.strip().splitlines()}
    others = {name for name in EVENT.named if name not in listed}
    of_usgs = (
        "magType type status updated url tsunami felt alert sig sourceDepth net code ids sources types nst dmin rms"
    )
    of_versions = "arrival revision recordedAt publishedAt hash kind preferredId mergedInto"
    assert others == {*of_usgs.split(), *["gap", "cdi", "mmi", "title", "detail"], *of_versions.split()}
    assert all(EVENT.named[name].optional for name in others)


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


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("mag", 10.1),
        ("mag", -2.1),
        ("eventId", 65 * "a"),
        ("place", 513 * "a"),
        ("lat", 90.1),
        ("lon", -181),
        ("depth", -1),
    ],
)
def test_an_event_beyond_the_documented_bounds_is_no_item(attribute: str, value: object) -> None:
    item = an_event().item
    EVENT.check(item)
    with pytest.raises(InvalidItem):
        EVENT.check({**item, attribute: value})
