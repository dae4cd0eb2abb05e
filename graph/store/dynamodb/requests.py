"""Makes DynamoDB's requests from keys, queries and actions. It sends nothing.

Every request applies the rule that an expired item does not exist: reads filter it out, a conditional
put may replace it, and the condition of an update or delete fails. Several entities share a table: a query asks for
keys as those of its entity, and the decoder passes over what is of another one.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache, partial
from operator import gt, lt
from typing import Any

from graph.store.conditions import Condition, names_in
from graph.store.contract import Action, Put, Update
from graph.store.design import Index, TableDesign, table_name
from graph.store.dynamodb.broken_items import BrokenItems
from graph.store.dynamodb.codec import EncodedItem, encode
from graph.store.dynamodb.expressions import Aliases, condition_expression, is_null, joined, update_expression
from graph.store.dynamodb.items import ItemCodec
from graph.store.entity import Entity, Key
from graph.store.meter import Meter
from graph.store.query import Partition, Prefix, Query, narrowed
from graph.store.shared_keys import begin_alike, same_partition
from graph.store.templates import LAST, KeyTemplate
from graph.store.values import InvalidItem

Request = dict[str, Any]


class Requests:
    """Makes the requests to the tables of some entities. `now` is in epoch seconds, as a TTL is."""

    def __init__(
        self, entities: Iterable[Entity], *, prefix: str = "", environment: str = "dev", meter: Meter | None = None
    ) -> None:
        """Prepare for these entities. A table's name is `prefix` and its design's name in this environment."""
        broken = BrokenItems(meter)
        self.tables: dict[TableDesign, str] = {}
        self._codecs: dict[Entity, ItemCodec] = {}
        self._sharing = cache(self._sharing_a_partition)
        for entity in entities:
            table = table_name(entity.table, prefix=prefix, environment=environment)
            self.tables[entity.table] = table
            self._codecs[entity] = ItemCodec(entity, partial(broken.report, table, entity))

    def codec(self, entity: Entity) -> ItemCodec:
        """The codec of an entity's items."""
        try:
            return self._codecs[entity]
        except KeyError:
            raise InvalidItem(f"the database was opened without {entity.name}") from None

    def table(self, entity: Entity) -> str:
        """The name of the table that holds an entity."""
        self.codec(entity)
        return self.tables[entity.table]

    def get(self, key: Key, attributes: Collection[str] | None = None) -> Request:
        """A read of one item, expired or not, with the needed attributes and the TTL."""
        read = {"TableName": self.table(key.entity), "Key": self.codec(key.entity).key(key), "ConsistentRead": True}
        return read | _projection_alone(self._stored([key.entity], attributes))

    def get_many(
        self, keys: Mapping[str, list[tuple[Key, EncodedItem]]], attributes: Collection[str] | None
    ) -> Request:
        """A read of several items of each table, with the needed attributes, the keys and the TTL."""
        wanted: Request = {}
        for table, of_table in keys.items():
            entities = dict.fromkeys(key.entity for key, _ in of_table)
            read = {"Keys": [encoded for _, encoded in of_table], "ConsistentRead": True}
            wanted[table] = read | _projection_alone(self._stored(entities, attributes))
        return {"RequestItems": wanted}

    def scan(self, entity: Entity, attributes: Collection[str] | None, now: int) -> Request:
        """A read of the whole table, for the items of one entity."""
        aliases = Aliases()
        request = self._read(entity, entity.table.primary)
        request |= _filter([*self._is(entity, aliases, entity.primary), *self._guards(entity, None, now, aliases)])
        return request | _projection(self.codec(entity).decoder(attributes).stored, aliases)

    def search(self, conditions: Mapping[Entity, Condition], now: int) -> Request:
        """A read of a whole table for its items that fulfil their entity's condition."""
        aliases = Aliases()
        kinds, names = list[str](), set[str]()
        for entity, condition in conditions.items():
            codec = self.codec(entity)
            is_of = filter(None, [_key_condition(template, None, None, aliases) for template in codec.primary])
            kinds.append(joined(" AND ", [*is_of, *self._guards(entity, condition, now, aliases)]))
            names |= {template.key.name for template in codec.primary} | names_in(codec.condition(condition))
        request = {"TableName": self.table(next(iter(conditions))), "FilterExpression": joined(" OR ", kinds)}
        return request | {"ReturnConsumedCapacity": "TOTAL"} | _projection(sorted(names), aliases)

    def query(self, query: Query, now: int, *, counting: bool = False, count_alone: bool = False) -> "QueryRequests":
        """The reads of a query's partitions.

        Args:
            counting: whether the items are counted, so that those of which no record can be made are not wanted.
            count_alone: whether the answers need no items.
        """
        entity, index = query.entity, query.by
        codec, aliases = self.codec(entity), Aliases()
        request = self._read(entity, index) | {"ScanIndexForward": query.forward}
        keys: Collection[KeyTemplate] = ()
        if counting or self._sharing(entity, index):  # DynamoDB refuses a filter on keys by which it reads
            keys = [each for each in entity.primary if each.key not in (index.partition_key, index.sort_key)]
        guards = [*self._is(entity, aliases, keys), *self._guards(entity, query.where, now, aliases)]
        request |= _filter([*guards, *self._types(entity, index, aliases)] if counting else guards)
        return QueryRequests(codec, query, request, aliases, count=count_alone)

    def action(self, action: Action, now: int) -> Request:
        """One action of a transaction. Its items and values are checked already."""
        aliases = Aliases()
        entity = action.key.entity
        codec = self.codec(entity)
        request: Request
        match action:
            case Put(_, item, if_absent, condition):
                kind, request = "Put", {"Item": codec.encode(item)}
                guards = [self._absent(entity.table, now, aliases)] if if_absent else []
                if condition is not None:
                    guards = self._guards(entity, condition, now, aliases, of_write=True)
            case Update(key, set_, add, condition):
                changes = update_expression(*codec.changes(key, set_, add), codec.starts(add), aliases)
                kind, request = "Update", {"Key": codec.key(key), "UpdateExpression": changes}
                guards = self._guards(entity, condition, now, aliases, of_write=True)
            case _:
                kind, request = "Delete", {"Key": codec.key(action.key)}
                exists = f"attribute_exists({aliases.name(entity.table.partition_key.name)})"
                guards = [exists, *self._guards(entity, action.condition, now, aliases, of_write=True)]
        if guards:
            request["ConditionExpression"] = joined(" AND ", guards)
        return {kind: {"TableName": self.table(entity)} | request | aliases.parameters()}

    def removal(self, key: Key, nulls: Collection[str]) -> Request:
        """An update that removes attributes if they are NULL."""
        aliases = Aliases()
        names = [aliases.name(name) for name in nulls]
        condition = joined(" AND ", [is_null(name, aliases) for name in names])
        request = {"TableName": self.table(key.entity), "Key": self.codec(key.entity).key(key)}
        changes = {"UpdateExpression": f"REMOVE {', '.join(names)}", "ConditionExpression": condition}
        return request | changes | aliases.parameters()

    def is_marked(self, entity: Entity, item: EncodedItem) -> bool:
        """Whether an item that was read without a filter has the entity's name, if its table names entities."""
        return all(item.get(name) == {"S": value} for name, value in entity.marks.items())

    def is_expired(self, entity: Entity, item: EncodedItem, now: int) -> bool:
        """Whether an item that was read without a filter has expired."""
        ttl = item.get(entity.table.ttl, {}).get("N") if entity.table.ttl else None
        return ttl is not None and float(ttl) <= now

    def _stored(self, entities: Iterable[Entity], attributes: Collection[str] | None) -> tuple[str, ...] | None:
        """The stored attributes that a read by key needs; None for all."""
        names: list[str] = []
        for entity in entities:
            stored = self.codec(entity).decoder(attributes).stored
            if stored is None:
                return None
            names += [*stored, *entity.marks, *([entity.table.ttl] if entity.table.ttl else [])]
        return tuple(names)

    def _read(self, entity: Entity, index: Index) -> Request:
        if index == entity.table.primary:
            return {"TableName": self.table(entity), "ConsistentRead": True}
        return {"TableName": self.table(entity), "IndexName": index.name}  # an index has no consistent reads

    def _is(self, entity: Entity, aliases: Aliases, keys: Iterable[KeyTemplate]) -> list[str]:
        """The conditions that an item is of the entity: its name, and the beginnings of some of its keys."""
        terms = [f"{aliases.name(name)} = {aliases.value(value)}" for name, value in entity.marks.items()]
        return [*terms, *filter(None, [_key_condition(template, None, None, aliases) for template in keys])]

    def _types(self, entity: Entity, index: Index, aliases: Aliases) -> list[str]:
        """The conditions that an item has what each record needs, as far as DynamoDB can test it without reading it."""
        if entity.record is None:
            return []
        keys = {key.name for each in (index, entity.table.primary) for key in (each.partition_key, each.sort_key)}
        needed = [each for each in entity.attributes if not each.optional and each.absent is None]
        stored = [each for each in needed if each.name not in keys | entity.held_by_keys.keys() | set(entity.key_names)]
        values = {letter: aliases.value(letter) for letter in dict.fromkeys(x for each in stored for x in each.letters)}
        return [
            joined(" OR ", [f"attribute_type({aliases.name(each.name)}, {values[letter]})" for letter in each.letters])
            for each in stored
        ]

    def _sharing_a_partition(self, entity: Entity, index: Index) -> list[Entity]:
        """The other entities whose items may be in the same partition of an index."""
        return [each for each in self._codecs if each is not entity and same_partition(entity, each, index)]

    def counts_only(self, query: Query) -> bool:
        """Whether all that a query finds is of its entity, so that DynamoDB may count it."""
        return not any(begin_alike(query.entity, each) for each in self._sharing(query.entity, query.by))

    def _guards(
        self, entity: Entity, condition: Condition | None, now: int, aliases: Aliases, *, of_write: bool = False
    ) -> list[str]:
        """The conditions on an item beside its key: the given one, and that it has not expired."""
        guards, codec = [], self.codec(entity)
        if condition is not None:
            stored = codec.condition(condition, of_write=of_write)
            guards.append(condition_expression(stored, aliases, codec.nullable))
        if entity.table.ttl is not None:
            guards.append(f"NOT {_expired(entity.table.ttl, now, aliases)}")
        return guards

    def _absent(self, design: TableDesign, now: int, aliases: Aliases) -> str:
        missing = f"attribute_not_exists({aliases.name(design.partition_key.name)})"
        return missing if design.ttl is None else joined(" OR ", [missing, _expired(design.ttl, now, aliases)])


class QueryRequests:
    """The reads of a query's partitions, which differ only in the partition and the start."""

    def __init__(
        self, codec: ItemCodec, query: Query, request: Request, aliases: Aliases, *, count: bool = False
    ) -> None:
        """Complete a request, which lacks its condition on the keys."""
        self._codec = codec
        self._index = query.by
        self._templates = codec.templates(query.by)
        self._forward = query.forward
        # DynamoDB refuses bounds in the wrong order and a start outside of them.
        self._low, self._high = low, high = _bounds(self._templates.sort, *narrowed(query.between))
        self._is_empty = low is not None and high is not None and gt(low, high)
        self._partition = aliases.value("")
        terms = [f"{aliases.name(self._index.partition_key.name)} = {self._partition}"]
        if sort := _key_condition(self._templates.sort, low, high, aliases):
            terms.append(sort)
        request["KeyConditionExpression"] = " AND ".join(terms)
        if count:
            self._request = request | {"Select": "COUNT"} | aliases.parameters()
        else:
            self._request = request | _projection(codec.decoder(query.needed, query.by).stored, aliases)

    def of(self, partition: Partition, start: Mapping[str, Any] | None = None) -> Request | None:
        """A read of one partition; None if nothing can lie within the bounds and after `start`."""
        exclusive_start = None if start is None else self._codec.start(self._index, start)
        if self._is_empty or (start is not None and self._ends_before(start)):
            return None
        key = encode(self._templates.partition.render(partition))
        values = {**self._request["ExpressionAttributeValues"], self._partition: key}
        request = {**self._request, "ExpressionAttributeValues": values}
        if start is not None and not self._begins_after(start):
            request["ExclusiveStartKey"] = exclusive_start
        return request

    def _ends_before(self, start: Mapping[str, Any]) -> bool:
        last, at = self._high if self._forward else self._low, self._at(start)
        precedes = lt if self._forward else gt
        # Two items of an index may share a sort key, those of the table do not.
        is_last = last == at and self._index == self._codec.entity.table.primary
        return last is not None and (precedes(last, at) or is_last)

    def _begins_after(self, start: Mapping[str, Any]) -> bool:
        first, precedes = self._low if self._forward else self._high, lt if self._forward else gt
        return first is not None and precedes(self._at(start), first)

    def _at(self, start: Mapping[str, Any]) -> Any:
        sort = self._templates.sort
        return sort.render([start[name] for name in sort.names])


def _projection(stored: Iterable[str] | None, aliases: Aliases) -> Request:
    """The parameters that select the attributes to read; None selects all."""
    if stored is None:
        return aliases.parameters()
    expression = ", ".join([aliases.name(name) for name in dict.fromkeys(stored)])
    return {"ProjectionExpression": expression} | aliases.parameters()


@lru_cache(maxsize=256)
def _projection_alone(stored: tuple[str, ...] | None) -> Request:
    """The parameters of a request without other expressions. There are few choices of attributes."""
    return _projection(stored, Aliases())


def _filter(guards: list[str]) -> Request:
    return {"FilterExpression": joined(" AND ", guards)} if guards else {}


def _expired(ttl: str, now: int, aliases: Aliases) -> str:
    # Does not hold if the TTL is missing or is not a number: such an item does not expire.
    return f"{aliases.name(ttl)} <= {aliases.value(now)}"


def _bounds(template: KeyTemplate, low: Prefix, high: Prefix) -> tuple[Any, Any]:
    """The least and the greatest sort key of items between these values of the first attributes; None for no bound."""
    first, last = (template.prefix(bound) if bound else None for bound in (low, high))
    if last is not None and len(high) < len(template.fields):
        last += LAST  # whatever follows the first attributes sorts before Unicode's last character
    return first, last


def _key_condition(template: KeyTemplate, low: Any, high: Any, aliases: Aliases) -> str | None:
    """The condition on a key: its bounds, and the beginning of its template."""
    beginning = template.literals[0]
    if low is None and high is None and not beginning:
        return None
    name = aliases.name(template.key.name)
    if not template.fields:
        return f"{name} = {aliases.value(beginning)}"
    if low is None and high is None:
        return f"begins_with({name}, {aliases.value(beginning)})"
    if beginning:
        low, high = beginning if low is None else low, beginning + LAST if high is None else high
    if low is None:
        return f"{name} <= {aliases.value(high)}"
    if high is None:
        return f"{name} >= {aliases.value(low)}"
    return f"{name} BETWEEN {aliases.value(low)} AND {aliases.value(high)}"
