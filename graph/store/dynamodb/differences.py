"""The differences between a declared table and the described one, with what each of them costs.

`quakegraph tables check` prints them, `adopt` and `create` remove some of them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from graph.store.configuration import CUSTOMER_KEY, Provisioned
from graph.store.design import Index, TableDesign
from graph.store.dynamodb.alarms import alarms
from graph.store.dynamodb.declaration import STREAM_VIEW_TYPE, attribute_definitions, key_schema, scaling
from graph.store.dynamodb.description import Description
from graph.store.entity import Entity


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
        yield Difference(
            Feature.STATUS, f"Its status is {status}.", "Nothing can be stored in it or read.", breaks=True
        )
    keys = _keys_in_words(found.table["KeySchema"], found.table)
    if keys != _declared(design.primary):
        yield Difference(
            Feature.KEYS,
            f"Its primary key is {keys}, not {_declared(design.primary)}.",
            "No item can be read. A table keeps its primary key: copy the items into a new table.",
            breaks=True,
        )
        return
    for index in design.indexes:
        yield from _index(index, found, entities)
    yield from _expiry(design, found)
    yield from _stream(design, found)
    yield from _billing(design, name, found)
    yield from _encryption(design, found)
    yield from _safeguards(design, found)
    yield from _alarms_and_tags(design, name, found)


def not_offered(design: TableDesign, found: Description) -> list[str]:
    """What the endpoint does not offer."""
    scales = isinstance(design.billing, Provisioned) and found.is_provisioned
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
    breaks = bool(readers)
    there = found.indexes.get(index.name)
    if there is None:
        types = {each["AttributeName"]: each["AttributeType"] for each in found.table["AttributeDefinitions"]}
        of_another = [
            f"{key.name} ({types[key.name]})"
            for key in (index.partition_key, index.sort_key)
            if types.get(key.name, key.type) != key.type
        ]
        said = f"The index {index.name} is missing{f', and {of_another[0]} is a key of another' if of_another else ''}."
        yield Difference(Feature.INDEX, said, cost, is_missing=not of_another, breaks=breaks, index=index)
        return
    keys, projection = _keys_in_words(there["KeySchema"], found.table), there["Projection"]["ProjectionType"]
    if keys != _declared(index):
        said = f"The keys of the index {index.name} are {keys}, not {_declared(index)}."
        yield Difference(Feature.INDEX, said, f"{cost} Delete it, and adopt the table again.", breaks=breaks)
    elif projection != "ALL":
        said = f"The index {index.name} has some attributes ({projection}), not ALL."
        yield Difference(Feature.INDEX, said, f"{cost} Delete it, and adopt the table again.", breaks=breaks)
    elif there.get("IndexStatus", "ACTIVE") not in {"ACTIVE", "UPDATING"}:
        said = f"The index {index.name} is not filled yet ({there['IndexStatus']})."
        yield Difference(Feature.INDEX, said, cost, breaks=breaks)


def _expiry(design: TableDesign, found: Description) -> Iterator[Difference]:
    if design.ttl == found.expiry:
        return
    if found.expiry is None:
        yield Difference(
            Feature.EXPIRY,
            f"Items do not expire by `{design.ttl}`.",
            "The service leaves out what has expired, but it is stored, billed and read over for ever.",
            is_missing=True,
        )
    elif design.ttl is None:
        yield Difference(
            Feature.EXPIRY,
            f"Items expire by `{found.expiry}`, not at all as declared.",
            "Items that have this attribute disappear.",
        )
    else:
        yield Difference(
            Feature.EXPIRY,
            f"Items expire by `{found.expiry}`, not by `{design.ttl}`.",
            f"What has expired by `{design.ttl}` is left out, but it is stored, billed and read over for ever.",
        )


def _stream(design: TableDesign, found: Description) -> Iterator[Difference]:
    if not design.stream:
        return
    if found.stream is None:
        yield Difference(
            Feature.STREAM,
            "It has no stream of changes.",
            "Each process looks for changes once a second, and finds by hourly scans what other programs write.",
            is_missing=True,
        )
    elif found.stream not in {STREAM_VIEW_TYPE, "NEW_AND_OLD_IMAGES"}:
        yield Difference(
            Feature.STREAM,
            f"Its stream holds {found.stream}, not {STREAM_VIEW_TYPE}.",
            "The service works as well; other readers of the stream miss the new items.",
        )


def _billing(design: TableDesign, name: str, found: Description) -> Iterator[Difference]:
    billing = design.billing
    if not isinstance(billing, Provisioned):
        if found.is_provisioned:
            units = found.table["ProvisionedThroughput"]
            read, write = units["ReadCapacityUnits"], units["WriteCapacityUnits"]
            yield Difference(
                Feature.BILLING,
                f"It is provisioned ({read} read and {write} write units), not billed on demand.",
                "What is beyond is throttled: it waits, and then fails with DATABASE_UNAVAILABLE.",
            )
        return
    if not found.is_provisioned:
        yield Difference(
            Feature.BILLING,
            f"It is billed on demand, not {billing}.",
            "The service works as well; only the price differs.",
        )
    elif found.scaling is not None:
        bounds = {
            (target["ResourceId"], target["ScalableDimension"]): (target["MinCapacity"], target["MaxCapacity"])
            for target, _ in scaling(design, name)
        }
        if missing := [place for place in bounds if place not in found.scaling]:
            yield Difference(
                Feature.SCALING,
                f"The capacity does not scale: {_places(missing)}.",
                "What is beyond it is throttled: it waits, and then fails with DATABASE_UNAVAILABLE.",
                is_missing=True,
            )
        if other := [place for place, wanted in bounds.items() if found.scaling.get(place, wanted) != wanted]:
            least, most = found.scaling[other[0]]
            yield Difference(
                Feature.SCALING,
                f"The capacity scales from {least} to {most} units, not from {billing.least} to {billing.most}: "
                f"{_places(other)}.",
                "What is beyond the most is throttled; the least is always billed.",
            )


def _encryption(design: TableDesign, found: Description) -> Iterator[Difference]:
    keys = found.keys
    if keys is None:
        return
    if keys.found is None or keys.found != keys.wanted:
        other = f"the key {keys.found}" if keys.found else "a key that AWS owns"
        yield Difference(
            Feature.ENCRYPTION,
            f"It is encrypted with {other}, not with the one that is {design.encryption}.",
            "The service works as well; the account has no control of the key."
            if keys.is_of_aws
            else "The service needs the permission `kms:Decrypt` for that key.",
        )
    if not keys.rotates:
        yield Difference(
            Feature.ROTATION,
            f"The key {keys.found} is not rotated.",
            "The service works as well; a key that leaks opens all that was ever stored.",
            is_missing=design.encryption == CUSTOMER_KEY,
        )


def _safeguards(design: TableDesign, found: Description) -> Iterator[Difference]:
    if design.protection and not found.table.get("DeletionProtectionEnabled"):
        yield Difference(
            Feature.PROTECTION,
            "It is not protected from deletion.",
            "The service works as well; one call of DeleteTable removes everything.",
            is_missing=True,
        )
    if design.recovery and found.recovery is False:
        yield Difference(
            Feature.RECOVERY,
            "It has no point-in-time recovery.",
            "The service works as well; what is overwritten or deleted by mistake is lost.",
            is_missing=True,
        )


def _alarms_and_tags(design: TableDesign, name: str, found: Description) -> Iterator[Difference]:
    wanted = [alarm["AlarmName"] for alarm in alarms(design, name)]
    if found.alarms is not None and (missing := [each for each in wanted if each not in found.alarms]):
        yield Difference(
            Feature.ALARMS,
            f"It has no alarm {', '.join(missing)}.",
            "The service works as well; nobody is told.",
            is_missing=True,
        )
    if found.tags is not None and (
        untagged := [f"{key}={value}" for key, value in design.tags if key not in found.tags]
    ):
        yield Difference(
            Feature.TAGS,
            f"It has no tag {', '.join(untagged)}.",
            "The service works as well; the bill does not show what the table is for.",
            is_missing=True,
        )


def _declared(index: Index) -> str:
    definitions = attribute_definitions(index.partition_key, index.sort_key)
    return _keys_in_words(key_schema(index), {"AttributeDefinitions": definitions})


def _keys_in_words(schema: Iterable[Any], table: Any) -> str:
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    ordered = sorted(schema, key=lambda each: str(each["KeyType"]))  # HASH is before RANGE
    return " and ".join(f"{each['AttributeName']} ({types[each['AttributeName']]})" for each in ordered)


def _places(places: Iterable[tuple[str, str]]) -> str:
    named = dict.fromkeys(resource.partition("/index/")[2] or "the table" for resource, _ in places)
    return ", ".join(named)
