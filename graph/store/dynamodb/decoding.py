"""Decodes the items of answers into rows, by a function that is compiled for each selection of attributes:

    def compiled(items):
        found = []
        append = found.append
        for item in items:
            v0 = item.get("eventId")
            if v0 is not None: v0 = text if (text := v0.get("S")) is not None else decode(v0)
            v1 = item.get("mag")
            if v1 is not None: v1 = float(text) if (text := v1.get("N")) is not None else decode(v1)
            append((v0, v1,))
        return found

An item is made of a row only where one is asked for (see `store.rows`). A second function makes it. Items with
undeclared attributes have no columns, so they are decoded one by one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from graph.core.compilation import Namespace
from graph.store.attributes import Attribute, Real, Text, Whole
from graph.store.dynamodb.codec import EncodedItem, decode, decode_real, read_number
from graph.store.entity import Entity, Item
from graph.store.rows import Row, Rows
from graph.store.templates import KeyTemplate

PLAIN_DIGITS = 18  # so many fit 64 bits


class Decoder(NamedTuple):
    """How to read items with the needed attributes."""

    stored: tuple[str, ...] | None  # the attributes to ask DynamoDB for; None for all
    decode: Callable[[Sequence[EncodedItem]], Sequence[Item]]


class DecodedColumns:
    """Columns of declared attributes. Their values are those of the attributes; None is that of a missing one."""

    def __init__(self, entity: Entity, wanted: Collection[str], held: Mapping[str, KeyTemplate]) -> None:
        """Select attributes, of which some are held by a key."""
        self.names = names = tuple(name for name in entity.named if name in wanted)
        self.width = len(names)
        self._rows: Callable[[Sequence[EncodedItem]], list[Row]] = _compiled_rows(entity, names, held)
        self.items: Callable[[Sequence[Row]], list[Item]] = _compiled_items(names)
        """Makes items of rows."""

    def reading(self, name: str) -> None:
        """A value needs no reading."""

    def decode(self, items: Sequence[EncodedItem]) -> Rows:
        """Decode the items of an answer."""
        return Rows(self, self._rows(items))


def decoding_one_by_one(
    entity: Entity, kept: Callable[[str], bool], held: Mapping[str, KeyTemplate]
) -> Callable[[Sequence[EncodedItem]], list[Item]]:
    """A function that decodes items, with all attributes whose names are kept, declared or not."""
    reals = {each.name: decode_real for each in entity.attributes if isinstance(each, Real)}
    templates = tuple(dict.fromkeys(held.values()))

    def decoded(item: EncodedItem) -> Item:
        found = {
            name: text
            if (text := value.get("S")) is not None
            else reals.get(name, decode)(value)  # most are text: no call
            for name, value in item.items()
            if kept(name)
        }
        for template in templates:
            fields = _fields(template, item)
            found |= {name: value for name, value in fields.items() if held.get(name) is template}
        return found

    return lambda items: list(map(decoded, items))


def _fields(template: KeyTemplate, item: EncodedItem) -> Item:
    """The fields' values in a key of an item; none of them if it lacks the key, or has another one."""
    encoded = item.get(template.key.name)
    return (None if encoded is None else template.parse(decode(encoded))) or {}


def _compiled_rows(entity: Entity, names: Sequence[str], held: Mapping[str, KeyTemplate]) -> Any:
    namespace = Namespace(decode=decode, number=read_number, fields=_fields)
    templates = dict.fromkeys(held[name] for name in names if name in held)
    keys = {template: namespace.constant("key", template) for template in templates}
    lines = [f"{key}_fields = fields({key}, item)" for key in keys.values()]
    for at, name in enumerate(names):
        if name in held:
            lines.append(f"v{at} = {keys[held[name]]}_fields.get({name!r})")
        else:
            lines.append(f"v{at} = item.get({name!r})")
            lines.append(f"if v{at} is not None: v{at} = {_value(entity.named[name], f'v{at}')}")
    row = "".join(f"v{at}, " for at in range(len(names)))
    return namespace.define_list("items", "for item in items:", [*lines, f"append(({row}))"])


def _compiled_items(names: Sequence[str]) -> Any:
    values = "".join(f"v{at}, " for at in range(len(names)))
    lines = [f"if v{at} is not None: item[{name!r}] = v{at}" for at, name in enumerate(names)]
    return Namespace().define_list("rows", f"for ({values}) in rows:", ["item = {}", *lines, "append(item)"])


def _value(attribute: Attribute, encoded: str) -> str:
    """The expression of a value. It has no call for the kind that the attribute usually has."""
    match attribute:
        case Text():
            return f"text if (text := {encoded}.get('S')) is not None else decode({encoded})"
        case Real():
            return f"float(text) if (text := {encoded}.get('N')) is not None else decode({encoded})"
        case Whole():
            plain = f"int(text) if len(text) <= {PLAIN_DIGITS} and text.isdecimal() else number(text)"
            return f"({plain}) if (text := {encoded}.get('N')) is not None else decode({encoded})"
        case _:
            return f"decode({encoded})"
