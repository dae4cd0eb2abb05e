"""The differences between a declared table and the described one, with what each of them costs.

`quakegraph tables check` prints them, `adopt` and `create` remove some of them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter
from typing import Any

from graph.store.configuration import CUSTOMER_KEY, Provisioned
from graph.store.design import Index, TableDesign
from graph.store.dynamodb.alarms import alarms
from graph.store.dynamodb.declaration import STREAM_VIEW_TYPE, scaling
from graph.store.dynamodb.description import Description, is_provisioned
from graph.store.entity import Entity

UNUSABLE = "Nothing can be stored in it or read."
WORKS = "The service works as well"
REPLACE = "Delete it, and adopt the table again."


class Feature(StrEnum):
    """A feature of a table, in words."""

    STATUS = "its status"
    KEYS = "the primary key"
    INDEX = "an index"
    EXPIRY = "expiry"
    STREAM = "the stream of changes"
    BILLING = "billing"
    SCALING = "auto-scaling"
    ENCRYPTION = "encryption with a key in KMS"
    ROTATION = "rotation of the key"
    RECOVERY = "point-in-time recovery"
    PROTECTION = "deletion protection"
    ALARMS = "alarms"
    TAGS = "tags"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference, in sentences."""

    feature: Feature
    said: str  # what is missing or differs
    cost: str  # what does not work without it, or works slower
    is_missing: bool = False  # so that it can be added; what the owner chose otherwise stays as it is
    breaks: bool = False  # whether the service cannot run without it
    index: Index | None = None

    def __str__(self) -> str:
        return f"{self.said} {self.cost}"


def differences(design: TableDesign, name: str, found: Description, entities: Iterable[Entity]) -> Iterator[Difference]:
    """What is missing or differs, in the order in which it is to be added."""
    if (status := found.table["TableStatus"]) not in {"ACTIVE", "UPDATING"}:
        yield Difference(Feature.STATUS, f"Its status is {status}.", UNUSABLE, breaks=True)
    keys, declared = _keys(found.table["KeySchema"], found), _declared(design.primary)
    if keys != declared:
        cost = "No item can be read. A table keeps its primary key: copy the items into a new table."
        yield Difference(Feature.KEYS, f"Its primary key is {keys}, not {declared}.", cost, breaks=True)
        return
    for index in design.indexes:
        yield from _index(index, found, entities)
    yield from _expiry(design, found)
    yield from _stream(design, found)
    yield from _billing(design, name, found)
    yield from _encryption(design, found)
    yield from _safeguards(design, name, found)


def not_offered(design: TableDesign, found: Description) -> list[str]:
    """What the endpoint does not offer."""
    scales = isinstance(design.billing, Provisioned) and is_provisioned(found.table)
    missing = {
        Feature.SCALING: scales and found.scaling is None,
        Feature.ENCRYPTION: found.keys is None,
        Feature.RECOVERY: design.recovery and found.recovery is None,
        Feature.ALARMS: bool(design.alarms) and found.alarms is None,
        Feature.TAGS: found.tags is None,
    }
    return [feature for feature, is_missing in missing.items() if is_missing]


def _index(index: Index, found: Description, entities: Iterable[Entity]) -> Iterator[Difference]:
    readers = sorted({entity.name for entity in entities if index in entity.indexes})
    cost = f"What is read through it fails: {', '.join(readers)}." if readers else "Nothing reads through it."
    there = found.indexes.get(index.name)
    if there is None:
        types = found.key_types
        keys = [key for key in (index.partition_key, index.sort_key) if types.get(key.name, key.type) != key.type]
        of_another = f", and {keys[0].name} ({types[keys[0].name]}) is a key of another" if keys else ""
        said = f"The index {index.name} is missing{of_another}."
        yield Difference(Feature.INDEX, said, cost, is_missing=not keys, breaks=bool(readers), index=index)
    elif (keys_there := _keys(there["KeySchema"], found)) != _declared(index):
        said = f"The keys of the index {index.name} are {keys_there}, not {_declared(index)}."
        yield Difference(Feature.INDEX, said, f"{cost} {REPLACE}", breaks=bool(readers))
    elif (projection := there["Projection"]["ProjectionType"]) != "ALL":
        said = f"The index {index.name} has some attributes ({projection}), not ALL."
        yield Difference(Feature.INDEX, said, f"{cost} {REPLACE}", breaks=bool(readers))
    elif (status := there.get("IndexStatus", "ACTIVE")) not in {"ACTIVE", "UPDATING"}:
        said = f"The index {index.name} is not filled yet ({status})."
        yield Difference(Feature.INDEX, said, cost, breaks=bool(readers))


def _expiry(design: TableDesign, found: Description) -> Iterator[Difference]:
    kept = "but it is stored, billed and read over for ever."
    if design.ttl == found.expiry:
        return
    if found.expiry is None:
        cost = f"The service leaves out what has expired, {kept}"
        yield Difference(Feature.EXPIRY, f"Items do not expire by `{design.ttl}`.", cost, is_missing=True)
    elif design.ttl is None:
        said = f"Items expire by `{found.expiry}`, not at all as declared."
        yield Difference(Feature.EXPIRY, said, "Items that have this attribute disappear.")
    else:
        said = f"Items expire by `{found.expiry}`, not by `{design.ttl}`."
        yield Difference(Feature.EXPIRY, said, f"What has expired by `{design.ttl}` is left out, {kept}")


def _stream(design: TableDesign, found: Description) -> Iterator[Difference]:
    if not design.stream:
        return
    if found.stream is None:
        cost = "Each process looks for changes once a second, and finds by hourly scans what other programs write."
        yield Difference(Feature.STREAM, "It has no stream of changes.", cost, is_missing=True)
    elif found.stream not in {STREAM_VIEW_TYPE, "NEW_AND_OLD_IMAGES"}:
        said = f"Its stream holds {found.stream}, not {STREAM_VIEW_TYPE}."
        yield Difference(Feature.STREAM, said, f"{WORKS}; other readers of the stream miss the new items.")


def _billing(design: TableDesign, name: str, found: Description) -> Iterator[Difference]:
    billing, throttled = design.billing, "is throttled: it waits, and then fails with DATABASE_UNAVAILABLE."
    if not isinstance(billing, Provisioned):
        if is_provisioned(found.table):
            units = found.table["ProvisionedThroughput"]
            there = f"{units['ReadCapacityUnits']} read and {units['WriteCapacityUnits']} write units"
            said = f"It is provisioned ({there}), not billed on demand."
            yield Difference(Feature.BILLING, said, f"What is beyond {throttled}")
    elif not is_provisioned(found.table):
        said = f"It is billed on demand, not {billing}."
        yield Difference(Feature.BILLING, said, f"{WORKS}; only the price differs.")
    elif found.scaling is not None:
        wanted, bounds = (billing.least, billing.most), found.scaling
        places = [(target["ResourceId"], target["ScalableDimension"]) for target, _ in scaling(design, name)]
        if missing := [place for place in places if place not in bounds]:
            said = f"The capacity does not scale: {_names(missing)}."
            yield Difference(Feature.SCALING, said, f"What is beyond it {throttled}", is_missing=True)
        if other := [place for place in places if bounds.get(place, wanted) != wanted]:
            least, most = bounds[other[0]]
            wished = f"not from {billing.least} to {billing.most}: {_names(other)}."
            said = f"The capacity scales from {least} to {most} units, {wished}"
            cost = "What is beyond the most is throttled; the least is always billed."
            yield Difference(Feature.SCALING, said, cost)


def _encryption(design: TableDesign, found: Description) -> Iterator[Difference]:
    keys = found.keys
    if keys is None:
        return
    if keys.found is None or keys.found != keys.wanted:
        other = f"the key {keys.found}" if keys.found else "a key that AWS owns"
        said = f"It is encrypted with {other}, not with the one that is {design.encryption}."
        cost = "The service needs the permission `kms:Decrypt` for that key."
        if keys.is_of_aws:
            cost = f"{WORKS}; the account has no control of the key."
        yield Difference(Feature.ENCRYPTION, said, cost)
    if not keys.rotates:
        said, is_ours = f"The key {keys.found} is not rotated.", design.encryption == CUSTOMER_KEY
        cost = f"{WORKS}; a key that leaks opens all that was ever stored."
        yield Difference(Feature.ROTATION, said, cost, is_missing=is_ours)


def _safeguards(design: TableDesign, name: str, found: Description) -> Iterator[Difference]:
    """Protection, recovery, alarms and tags, as far as the endpoint offers them."""
    if design.protection and not found.table.get("DeletionProtectionEnabled"):
        cost = f"{WORKS}; one call of DeleteTable removes everything."
        yield Difference(Feature.PROTECTION, "It is not protected from deletion.", cost, is_missing=True)
    if design.recovery and found.recovery is False:
        cost = f"{WORKS}; what is overwritten or deleted by mistake is lost."
        yield Difference(Feature.RECOVERY, "It has no point-in-time recovery.", cost, is_missing=True)
    wanted = [alarm["AlarmName"] for alarm in alarms(design, name)]
    if found.alarms is not None and (lacking := [each for each in wanted if each not in found.alarms]):
        said = f"It has no alarm {', '.join(lacking)}."
        yield Difference(Feature.ALARMS, said, f"{WORKS}; no alarm is raised.", is_missing=True)
    tags = found.tags
    if tags is not None and (lacking := [f"{key}={value}" for key, value in design.tags if key not in tags]):
        cost = f"{WORKS}; the bill does not show what the table is for."
        yield Difference(Feature.TAGS, f"It has no tag {', '.join(lacking)}.", cost, is_missing=True)


def _declared(index: Index) -> str:
    return " and ".join(f"{key.name} ({key.type})" for key in (index.partition_key, index.sort_key))


def _keys(schema: Iterable[Any], found: Description) -> str:
    names = [each["AttributeName"] for each in sorted(schema, key=itemgetter("KeyType"))]  # HASH is before RANGE
    return " and ".join(f"{name} ({found.key_types[name]})" for name in names)


def _names(places: Iterable[tuple[str, str]]) -> str:
    return ", ".join(dict.fromkeys(resource.partition("/index/")[2] or "the table" for resource, _ in places))
