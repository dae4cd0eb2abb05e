"""An entity's items ⇄ items in DynamoDB, which also have keys and the name of their entity.

    {eventId: us1, eventTsMs: 7, dayBucket: 19700101, …}
    {eventId: us1, eventTsMs: 7, dayBucket: 19700101, …,
     pk: EVENT#us1, sk: EVENT, gsi1pk: DAY#19700101, gsi1sk: 7, entity: EVENT}

An attribute that only a key holds is read from the key. Undeclared attributes are not read.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache, partial
from typing import Any

from graph.store.attributes import Filled
from graph.store.conditions import (
    Absent,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Not,
    OneOf,
    Present,
    all_of,
    negated,
    predicate,
)
from graph.store.design import Index
from graph.store.dynamodb.codec import EncodedItem, decode, encode_item
from graph.store.dynamodb.decoding import Broken, Decoder, decoder_of
from graph.store.entity import Entity, Item, Key, KeyTemplates
from graph.store.templates import KeyTemplate
from graph.store.values import InvalidItem

MOST_DECODERS = 100


class ItemCodec:
    """Encodes and decodes the items of one entity. It encodes only checked items."""

    def __init__(self, entity: Entity, broken: Broken) -> None:
        """Take a function that is called with each broken item that is read."""
        self.entity = entity
        self._held_by = entity.held_by_keys
        self.primary = entity.primary
        declared = entity.record.declared() if entity.record else ()  # by documents: other programs write them, too
        self.nullable = frozenset(each.name for each in declared if each.optional or each.absent is not None)
        self._primary_keys = {template.key.name for template in self.primary}
        # There are few choices of attributes: they are fixed in code, or follow from a query's fields.
        self._decoder = lru_cache(MOST_DECODERS)(partial(decoder_of, entity, broken=broken))

    def encode(self, item: Mapping[str, Any]) -> EncodedItem:
        """The item with its keys."""
        return encode_item(self.entity.with_keys(item))

    def key(self, key: Key) -> EncodedItem:
        """A primary key."""
        return encode_item(_rendered(self.primary, self._of_key(key)))

    def start(self, index: Index, start: Mapping[str, Any]) -> EncodedItem:
        """The keys of a position in an index.

        Raises:
            InvalidItem: An attribute of the position is missing.
        """
        if missing := [name for name in self.entity.position_names(index) if name not in start]:
            raise InvalidItem(f"the start of a reading lacks `{missing[0]}`")
        return encode_item(_rendered(self.primary, start) | _rendered(self.templates(index), start))

    def templates(self, index: Index) -> KeyTemplates:
        """The templates of an index."""
        try:
            return self.entity.templates[index]
        except KeyError:
            raise InvalidItem(f"{self.entity.name} is not in {index.name}") from None

    def key_of(self, item: EncodedItem) -> Key | None:
        """The primary key of an item; None if it is not a valid one of the entity."""
        found: Item = {}
        for template in self.primary:
            if (fields := template.parse(decode(item[template.key.name]))) is None:
                return None
            found |= fields
        key = self.entity.key_of(found)
        try:
            self.entity.check_keys([key.values])
        except InvalidItem:
            return None
        return key

    def changes(
        self, key: Key, set_: Mapping[str, Any], add: Mapping[str, int | float]
    ) -> tuple[dict[str, Any], dict[str, int | float]]:
        """The changes of an update, with the changed keys, and with what a new item needs beside its key."""
        known = {**self._of_key(key), **set_}
        wanted: Item = {name: value for name, value in known.items() if name not in self._held_by}
        wanted |= self.entity.marks
        added = dict(add)
        for index in self.entity.indexes:
            templates = self.entity.templates[index]
            if all(name in known or name in add for name in templates.names):
                for template in templates:
                    if all(name in known for name in template.names):
                        wanted[template.key.name] = _key_of(template, known)
                    else:
                        added[template.key.name] = _added(template, add)
        return {name: value for name, value in wanted.items() if name not in self._primary_keys}, added

    def starts(self, added: Iterable[str]) -> dict[str, Any]:
        """What is added to where an item lacks one of these attributes, if it is not zero."""
        absent = {name: self.entity.named[name].absent for name in added if name in self.entity.named}
        return {name: value for name, value in absent.items() if value and not isinstance(value, Filled)}

    def condition(self, condition: Condition, *, of_write: bool = False) -> Condition:
        """The condition on the item as DynamoDB has it, where an attribute may be missing whose absence has a meaning.

        Args:
            of_write: whether the item may not exist. Then no condition holds but that an attribute is absent.

        Raises:
            InvalidItem: It compares with an attribute that only a key holds, or that is computed when it is absent.
        """
        match condition:
            case AllOf(parts) | AnyOf(parts):
                return type(condition)(tuple([self.condition(part, of_write=of_write) for part in parts]))
            case Not(part):
                return negated(self.condition(part, of_write=of_write))
            case Present(name) | Absent(name) if name in self._held_by:
                return type(condition)(self._held_by[name].key.name)
            case Compare(name) | OneOf(name) if name in self._held_by:
                raise InvalidItem(f"nothing can be compared with `{name}`, which only a key holds")
        name = condition.attribute
        absent = self.entity.named[name].absent if name in self.entity.named else None
        if absent is None:
            return condition
        if isinstance(absent, Filled) and isinstance(condition, Compare | OneOf):
            if not absent.values:
                raise InvalidItem(f"nothing can be compared with `{name}`, which may be computed")
            holds, (source,) = predicate(condition), absent.attributes
            giving = tuple(value for value in absent.values if holds({name: absent.compute(value)}))
            return AnyOf((condition, AllOf((Absent(name), OneOf(source, giving)))))
        exists = Present(self.primary.partition.key.name) if of_write else None
        match condition:
            case Present():
                return exists or AnyOf((condition, Absent(name)))
            case Absent():
                return Absent(self.primary.partition.key.name) if of_write else OneOf(name, ())
        if not predicate(condition)({name: absent}):
            return condition
        missing = all_of(Absent(name), exists)
        return AnyOf((condition, missing)) if missing else condition

    def decoder(self, needed: Collection[str] | None = None, index: Index | None = None) -> Decoder:
        """How to read items with these attributes; None for all.

        Args:
            index: by which they are read; None for the primary key.
        """
        return self._decoder(None if needed is None else frozenset(needed), index or self.entity.table.primary)

    def _of_key(self, key: Key) -> Item:
        return dict(zip(self.entity.key_names, key.values, strict=True))


def _rendered(templates: KeyTemplates, item: Mapping[str, Any]) -> dict[str, Any]:
    return {template.key.name: _key_of(template, item) for template in templates}


def _key_of(template: KeyTemplate, item: Mapping[str, Any]) -> Any:
    return template.render([item[name] for name in template.names])


def _added(template: KeyTemplate, add: Mapping[str, int | float]) -> int | float:
    """The addition to a key that is one number."""
    if template.key.type != "N":
        raise InvalidItem(f"nothing can be added to an attribute of the text key `{template.key.name}`")
    return add[template.names[0]]
