"""Keys, queries and actions as the requests that DynamoDB takes. Nothing here is sent.

The rule that an expired item does not exist is put into every request here: reads filter
it out, a conditional put may take its place, an update or delete of it fails its condition.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from operator import gt, lt
from typing import Any

from graph.store.conditions import Condition, Present, all_of
from graph.store.contract import Action, Bounds, InvalidItem, Key, KeyValue, Put, Update
from graph.store.design import Index, TableDesign
from graph.store.dynamodb.codec import EncodedItem, encode
from graph.store.dynamodb.codec import encode_item as encode_checked
from graph.store.dynamodb.expressions import Aliases, condition_expression, joined, update_expression

Request = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Requests:
    """Makes the requests to one table. `now` is in epoch seconds, as a TTL is."""

    table: str
    design: TableDesign

    def key(self, key: Key) -> EncodedItem:
        """A primary key."""
        partition, sort = key
        return {self.design.partition_key.name: encode(partition), self.design.sort_key.name: encode(sort)}

    def get(self, key: Key) -> Request:
        """A read of one item, expired or not."""
        return {"TableName": self.table, "Key": self.key(key), "ConsistentRead": True}

    def get_many(self, keys: Collection[EncodedItem], only: Collection[str] | None) -> Request:
        """A read of several, expired or not; of their attributes those in `only`, the keys and the TTL."""
        if only is None:
            return {"RequestItems": {self.table: {"Keys": keys, "ConsistentRead": True}}}
        own = (self.design.partition_key.name, self.design.sort_key.name, self.design.ttl)
        aliases = Aliases()
        needed = ", ".join(aliases.name(name) for name in dict.fromkeys((*own, *only)) if name is not None)
        projection = {"ProjectionExpression": needed, **aliases.parameters()}
        return {"RequestItems": {self.table: {"Keys": keys, "ConsistentRead": True, **projection}}}

    def scan(self, where: Condition | None, now: int) -> Request:
        """A read of the whole table."""
        aliases = Aliases()
        return self._read(self.design.primary) | self._filter(where, now, aliases) | aliases.parameters()

    def query(
        self,
        index: Index,
        partition: KeyValue,
        between: Bounds,
        forward: bool,
        start: Mapping[str, Any] | None,
        where: Condition | None,
        now: int,
    ) -> Request | None:
        """A read of one partition; None where nothing can lie within the bounds and behind `start`."""
        # DynamoDB refuses bounds in the wrong order and a start outside of them.
        low, high = between
        if low is not None and high is not None and gt(low, high):
            return None
        if start is not None:
            first, last = (low, high) if forward else (high, low)
            precedes, at = lt if forward else gt, _of(start, index.sort_key.name)
            if last is not None and precedes(last, at):
                return None
            if first is not None and precedes(at, first):
                start = None
        aliases = Aliases()
        request = self._read(index) | {"ScanIndexForward": forward} | self._filter(where, now, aliases)
        request["KeyConditionExpression"] = _key_condition(index, partition, between, aliases)
        if start is not None:
            request["ExclusiveStartKey"] = {
                attribute.name: encode(_of(start, attribute.name)) for attribute in self.design.start_attributes(index)
            }
        return request | aliases.parameters()

    def action(self, action: Action, now: int) -> Request:
        """One action of a transaction, its items and values checked already."""
        aliases = Aliases()
        request: Request
        match action:
            case Put(item, if_absent):
                kind, request = "Put", {"Item": encode_checked(item)}
                guards = [self._absent(now, aliases)] if if_absent else []
            case Update(key, set_, add, condition):
                changes = update_expression(set_, add, aliases)
                kind, request = "Update", {"Key": self.key(key), "UpdateExpression": changes}
                guards = self._guards(condition, now, aliases)
            case _:
                kind, request = "Delete", {"Key": self.key(action.key)}
                exists = Present(self.design.partition_key.name)
                guards = self._guards(all_of(exists, action.condition), now, aliases)
        if guards:
            request["ConditionExpression"] = joined(" AND ", guards)
        return {kind: {"TableName": self.table} | request | aliases.parameters()}

    def _read(self, index: Index) -> Request:
        if index == self.design.primary:
            return {"TableName": self.table, "ConsistentRead": True}
        return {"TableName": self.table, "IndexName": index.name}  # which can only be read as it comes

    def _filter(self, where: Condition | None, now: int, aliases: Aliases) -> Request:
        guards = self._guards(where, now, aliases)
        return {"FilterExpression": joined(" AND ", guards)} if guards else {}

    def _guards(self, condition: Condition | None, now: int, aliases: Aliases) -> list[str]:
        """What must hold of an item beside its key: the condition, and that it has not expired."""
        guards = [] if condition is None else [condition_expression(condition, aliases)]
        return guards if self.design.ttl is None else [*guards, f"NOT {_expired(self.design.ttl, now, aliases)}"]

    def _absent(self, now: int, aliases: Aliases) -> str:
        missing = f"attribute_not_exists({aliases.name(self.design.partition_key.name)})"
        return (
            missing if self.design.ttl is None else joined(" OR ", [missing, _expired(self.design.ttl, now, aliases)])
        )


def _expired(ttl: str, now: int, aliases: Aliases) -> str:
    # Does not hold where the TTL is missing, or is no number: such an item stays.
    return f"{aliases.name(ttl)} <= {aliases.value(now)}"


def _of(start: Mapping[str, Any], attribute: str) -> Any:
    try:
        return start[attribute]
    except KeyError:
        raise InvalidItem(f"the start of a reading lacks `{attribute}`") from None


def _key_condition(index: Index, partition: KeyValue, between: Bounds, aliases: Aliases) -> str:
    terms = [f"{aliases.name(index.partition_key.name)} = {aliases.value(partition)}"]
    match between:
        case (None, None):
            pass
        case (low, None):
            terms.append(f"{aliases.name(index.sort_key.name)} >= {aliases.value(low)}")
        case (None, high):
            terms.append(f"{aliases.name(index.sort_key.name)} <= {aliases.value(high)}")
        case (low, high):
            terms.append(f"{aliases.name(index.sort_key.name)} BETWEEN {aliases.value(low)} AND {aliases.value(high)}")
    return " AND ".join(terms)
