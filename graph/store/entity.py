"""Entities: the kinds of items in a table, declared once. Only they know the keys.

    EVENT = Entity(
        "EVENT",
        EARTHQUAKE_EVENTS,
        Event,  # the record that declares attributes
        key=("EVENT#{eventId}", "EVENT"),
        indexes={TIME_ORDERED: ("DAY#{dayBucket}", "{eventTsMs}")},
        attributes=(Text("hash", longest=16), …),  # others
    )

The store's users see an item as a mapping of attributes, without keys. DynamoDB keeps the keys beside
the attributes. SQLite keeps each entity in a table of its own with a column for each attribute, and no
keys, since the templates derive them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from graph.store.attributes import Attribute, JsonDocument, Real, Text, Whole
from graph.store.checks import item_check, values_check
from graph.store.design import Index, TableDesign
from graph.store.templates import CHARACTER_BYTES, NUMBER_BYTES, PARTITION_KEY_BYTES, SORT_KEY_BYTES, KeyTemplate
from graph.store.values import ITEM_BYTES, InvalidItem, check_number, check_size

if TYPE_CHECKING:
    from graph.store.records import Record

Item = dict[str, Any]
"""Attribute name → text, number, truth value, None, list or mapping of such.

A whole number that fits 64 bits may be returned as int, any other number is a float: 2.0 may be
returned as 2, which equals it. Numbers beyond DynamoDB's range (±1e-130 to ±9.99e125), NaN,
infinities, whole numbers past 64 bits and text that is not valid Unicode raise `InvalidItem`.
"""


class Key(NamedTuple):
    """A primary key: the values of the attributes that its templates name, in the same order."""

    entity: "Entity"
    values: tuple[Any, ...]


class KeyTemplates(NamedTuple):
    """The templates of an index's keys."""

    partition: KeyTemplate
    sort: KeyTemplate

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that both name, each once."""
        return tuple(dict.fromkeys((*self.partition.names, *self.sort.names)))


@dataclass(frozen=True, eq=False)
class Entity:
    """One kind of items of a table. Raises ValueError if the declaration contradicts itself."""

    name: str  # unique in the table
    table: TableDesign
    record: "type[Record] | None" = None  # declares attributes, too
    _: KW_ONLY
    key: tuple[str, str]  # templates of the partition key and the sort key
    attributes: tuple[Attribute, ...] = ()
    indexes: Mapping[Index, tuple[str, str]] = field(default_factory=dict)
    narrowed_by: tuple[str, ...] = ()  # what queries by the primary key filter on, as an index's `narrowed_by`
    open: bool = False  # whether items may have undeclared attributes
    label: str = ""  # the value of the attribute that names the entity, if it is not the name

    def __post_init__(self) -> None:
        if self.record:
            each_once = dict.fromkeys((*self.record.declared(), *self.attributes))
            object.__setattr__(self, "attributes", tuple(each_once))
            self.record.stored_in(self)
        if len(self.named) < len(self.attributes):
            raise ValueError(f"{self.name} declares an attribute twice")
        if any(index not in self.table.indexes for index in self.indexes):
            raise ValueError(f"{self.name} names an index that its table does not have")
        for index, templates in self.templates.items():
            sort = templates.sort
            if sort.key.type == "S":
                # DynamoDB orders items by the whole key, and SQLite by one attribute after the other.
                for each, literal in zip(sort.fields, sort.literals[1:], strict=True):
                    if literal and not each.keeps_order_before(literal):
                        raise ValueError(
                            f"`{sort.source}` does not keep the order of `{each.name}`: "
                            "give it a fixed length, or make it plain with `#` behind it"
                        )
            if index == self.table.primary and any(
                each.optional for each in (*templates.partition.fields, *sort.fields)
            ):
                raise ValueError(f"{self.name}: an attribute of the primary key is not optional")
        if lost := [each.name for each in self.attributes if each.in_key_alone and each.name not in self.held_by_keys]:
            raise ValueError(f"{self.name} declares `{lost[0]}` as part of a key, but no template names it")
        for name in self.reserved & self.named.keys():
            if all((t.key.name, t.source) != (name, f"{{{name}}}") for both in self.templates.values() for t in both):
                raise ValueError(f"{self.name}: `{name}` is a key of the table")

    @cached_property
    def named(self) -> dict[str, Attribute]:
        """The attributes by their names."""
        return {attribute.name: attribute for attribute in self.attributes}

    @cached_property
    def templates(self) -> dict[Index, KeyTemplates]:
        """The templates of the keys of the table and of each index."""
        every = {self.table.primary: self.key, **self.indexes}
        return {
            index: KeyTemplates(
                KeyTemplate.of(index.partition_key, partition, self.named, PARTITION_KEY_BYTES),
                KeyTemplate.of(index.sort_key, sort, self.named, SORT_KEY_BYTES),
            )
            for index, (partition, sort) in every.items()
        }

    @property
    def primary(self) -> KeyTemplates:
        """The templates of the primary key."""
        return self.templates[self.table.primary]

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """The attributes of the primary key."""
        return self.primary.names

    def key_of(self, item: Mapping[str, Any]) -> Key:
        """The primary key of an item.

        Raises:
            InvalidItem: An attribute is missing.
        """
        try:
            return Key(self, tuple([item[name] for name in self.key_names]))
        except KeyError as error:
            raise InvalidItem(f"{self.name} lacks `{error.args[0]}`, which is part of its key") from None

    def keys_of(self, items: Sequence[Mapping[str, Any]]) -> Iterable[Key]:
        """The primary keys of items that have them. For many items, this takes half the time of `key_of`."""
        columns = [[item[name] for item in items] for name in self.key_names]
        return map(Key, repeat(self), zip(*columns, strict=True))

    def keys_for(self, values: Iterable[Any]) -> Iterable[Key]:
        """The primary keys with these values of the only attribute of `key_names`."""
        if len(self.key_names) != 1:
            raise InvalidItem(f"the key of {self.name} takes {', '.join(self.key_names)}")
        return map(Key, repeat(self), zip(values, strict=True))

    def key_for(self, *values: Any) -> Key:
        """The primary key with these values of `key_names`, in the same order."""
        if len(values) != len(self.key_names):
            raise InvalidItem(f"the key of {self.name} takes {', '.join(self.key_names)}")
        return Key(self, values)

    def partition_of(self, index: Index, item: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values that name an item's partition in an index."""
        return tuple([item[name] for name in self.templates[index].partition.names])

    def position_names(self, index: Index) -> tuple[str, ...]:
        """The attributes of an item's position in an index, from which a query can read on."""
        return self._position_names[index]

    @cached_property
    def _position_names(self) -> dict[Index, tuple[str, ...]]:
        return {
            index: tuple(dict.fromkeys((*templates.names, *self.key_names)))
            for index, templates in self.templates.items()
        }

    def position_of(self, index: Index, item: Mapping[str, Any]) -> Item:
        """The position of an item in an index."""
        return {name: item[name] for name in self.position_names(index)}

    def with_keys(self, item: Mapping[str, Any]) -> Item:
        """An item as DynamoDB keeps it: with its keys, without attributes that only a key holds.

        The keys of an index are left out if the item lacks one of their attributes. A table may have an attribute that
        names the entity.
        """
        whole: Item = {name: value for name, value in item.items() if name not in self.held_by_keys}
        for templates in self.templates.values():
            if all(name in item for name in templates.names):
                for template in templates:
                    whole[template.key.name] = template.render([item[name] for name in template.names])
        whole |= self.marks
        return whole

    @cached_property
    def marks(self) -> Mapping[str, str]:
        """The attribute by which the table names the entity of an item, if it has one."""
        return {self.table.entity: self.label or self.name} if self.table.entity else {}

    @cached_property
    def held_by_keys(self) -> dict[str, KeyTemplate]:
        """The attributes that only a key holds, each with the template of that key."""
        held: dict[str, KeyTemplate] = {}
        for templates in self.templates.values():
            for template in templates:
                for each in template.fields:
                    itself = each.name == template.key.name and template.key.type == "S" and not isinstance(each, Text)
                    if each.in_key_alone or itself:
                        held.setdefault(each.name, template)
        return held

    def check(self, item: Mapping[str, Any]) -> None:
        """Raise `InvalidItem` unless the item can be stored."""
        if self._check_attributes(item) < len(item):
            self._check_undeclared(item.keys() - self.named.keys())
        if not self._always_fits:
            check_size(item, lambda: self.with_keys(item))
        self._check_keys(item, self._keys_to_check.values())

    def check_changes(self, values: Mapping[str, Any], added: Mapping[str, int | float]) -> None:
        """Raise `InvalidItem` unless these attributes can be set and these numbers added in one update."""
        named = self.named
        for name in values.keys() & named.keys():
            named[name].check(values[name])
        for name in added.keys() & named.keys():
            attribute, number = named[name], added[name]
            if not isinstance(attribute, Real) and not (isinstance(attribute, Whole) and isinstance(number, int)):
                raise InvalidItem(f"{number} cannot be added to `{name}`")
        self._check_undeclared((values.keys() | added.keys()) - named.keys())
        changes = {**values, **added}
        if changed := [name for name in self.key_names if name in changes]:
            raise InvalidItem(f"an update cannot change `{changed[0]}`, which is part of the primary key")
        for index in self.indexes:
            names = self.templates[index].names
            free = [name for name in names if name not in self.key_names]
            if any(name in changes for name in free) and not all(name in changes for name in free):
                raise InvalidItem(
                    f"an update sets all of {', '.join(free)} or none, as {index.name} is ordered by them"
                )
        check_size(changes)

    def check_changed(self, item: Mapping[str, Any], added: Mapping[str, Any]) -> None:
        """Raise `InvalidItem` unless the result of checked changes, which keep the primary key, can be stored.

        It may lack required attributes, since an update can make an item. Sums may exceed an attribute's bounds.
        """
        if self._always_fits:
            for name in added:
                check_number(item[name])
        else:
            check_size(item, lambda: self.with_keys(item))
        self._check_keys(item, self._keys_of_indexes_to_check)

    def check_keys(self, keys: Collection[Sequence[Any]]) -> None:
        """Raise `InvalidItem` unless each of these values of `key_names` makes a key."""
        self._check_values_of_keys(keys)
        if self._key_templates_to_check:
            for values in keys:
                for template, positions in self._key_templates_to_check:
                    template.render([values[at] for at in positions])

    @cached_property
    def _check_values_of_keys(self) -> Callable[[Iterable[Sequence[Any]]], None]:
        return values_check([self.named[name] for name in self.key_names])

    @cached_property
    def _key_templates_to_check(self) -> list[tuple[KeyTemplate, list[int]]]:
        """The templates of the primary key that a value may not fit, with the values' positions."""
        return [
            (template, [self.key_names.index(name) for name in template.names])
            for template in self.primary
            if not template.is_always_valid
        ]

    def _check_undeclared(self, names: Set[str]) -> None:
        """Raise `InvalidItem` if an item cannot have one of these undeclared attributes."""
        if names and not self.open:
            raise InvalidItem(f"{self.name} has no attribute `{min(names, key=str)}`")
        if reserved := names & (self.reserved | {self.table.ttl}):
            raise InvalidItem(f"{self.name} cannot have `{min(reserved)}` without declaring it")

    @cached_property
    def _check_attributes(self) -> Callable[[Mapping[str, Any]], int]:
        return item_check(self.attributes)

    @cached_property
    def reserved(self) -> frozenset[str]:
        """The names of the table's keys, and of the attribute that names the entity."""
        return frozenset({attribute.name for attribute in self.table.key_attributes} | self.marks.keys())

    def _check_keys(self, item: Mapping[str, Any], keys: Iterable[KeyTemplates]) -> None:
        """Raise `InvalidItem` if a key would be too long or empty."""
        for templates in keys:
            for template in templates:
                if all(name in item for name in template.names):
                    template.render([item[name] for name in template.names])

    @cached_property
    def _keys_to_check(self) -> dict[Index, KeyTemplates]:
        """The keys that may be invalid although all attributes are within their bounds."""
        return {
            index: templates
            for index, templates in self.templates.items()
            if any(not template.is_always_valid for template in templates)
        }

    @cached_property
    def _keys_of_indexes_to_check(self) -> list[KeyTemplates]:
        return [templates for index, templates in self._keys_to_check.items() if index != self.table.primary]

    @cached_property
    def _always_fits(self) -> bool:
        """Whether the attributes' bounds guarantee that no item is too large."""
        if self.open or any(
            (isinstance(a, JsonDocument) and a.largest is None) or (isinstance(a, Text) and a.longest is None)
            for a in self.attributes
        ):
            return False
        texts = sum(a.longest or 0 for a in self.attributes if isinstance(a, Text))
        documents = sum(a.largest or 0 for a in self.attributes if isinstance(a, JsonDocument))
        names = sum(len(a.name) for a in self.attributes)
        most = texts * CHARACTER_BYTES + documents + names + len(self.attributes) * NUMBER_BYTES
        return most < ITEM_BYTES - 4096
