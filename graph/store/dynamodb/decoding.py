"""Decodes the items of answers into rows, by a function that is compiled for each selection of attributes:

    def compiled(items):
        found = []
        append = found.append
        for item in items:
            try:
                if (found_in_key := match0(item["pk"]["S"])) is None: continue
                v0 = found_in_key[1]
                if not (v0.__class__ is str and 1 <= len(v0) <= 64 and v0.isascii()): check0(v0)
            except Exception as error:
                broken(item, error)
                continue
            append((v0,))
        return found

Other programs write the tables too. An item whose primary key is not of the entity is passed over. A broken one, with a
value that the declaration refuses or without an attribute that a record needs, is passed over and reported. So is one
that is read by an index whose keys are not those of its attributes: a position made of them would be another place.
What the primary key names is read from it. Another missing attribute is what its declaration says (`Attribute.absent`).

An item is made of a row only where one is asked for (see `store.rows`). A second function makes it. A row's undeclared
attributes are its last value, a mapping.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from graph.core.compilation import Namespace
from graph.store.attributes import IN_INDEX, Attribute, Filled, JsonDocument, Real, Text, Whole
from graph.store.checks import usual
from graph.store.design import Index
from graph.store.dynamodb.codec import EncodedItem, decode, encode, read_number
from graph.store.entity import Entity, Item
from graph.store.rows import Row, Rows
from graph.store.templates import KeyTemplate
from graph.store.values import InvalidItem

PLAIN_DIGITS = 18  # so many fit 64 bits

Broken = Callable[[EncodedItem, Exception], None]
"""Takes a broken item and the reason."""


class Decoder(NamedTuple):
    """How to read items with the needed attributes."""

    stored: tuple[str, ...] | None  # the attributes to ask DynamoDB for; None for all
    decode: Callable[[Sequence[EncodedItem]], Sequence[Item]]  # leaves out broken items, and those of other entities


class DecodedColumns:
    """Columns of attributes. Their values are those of the attributes; None is that of a missing one."""

    def __init__(self, names: Sequence[str], *, has_others: bool) -> None:
        """Name the attributes. Behind them, a row may have the undeclared ones."""
        self.names = names
        self.width = len(names) + has_others
        self.items: Callable[[Sequence[Row]], list[Item]] = _compiled_items(names, has_others=has_others)
        """Makes items of rows."""

    def reading(self, name: str) -> None:
        """A value needs no reading."""


def decoder_of(entity: Entity, names: frozenset[str] | None, index: Index, broken: Broken) -> Decoder:
    """How to read items by an index, with these attributes; None for all.

    Args:
        broken: is called with each broken item.
    """
    made = [] if index == entity.table.primary else _keys_made(entity, index)
    declared = tuple(name for name in entity.named if names is None or name in names)
    known = entity.named.keys() | entity.reserved
    stored: tuple[str, ...] | None = None
    if names is not None:
        read = names | _sources_of(entity, names)
        unstored = {name for name in read if name in entity.held_by_keys or _in_primary_key(entity, name)}
        attributes = read - unstored - (entity.reserved - entity.named.keys())
        others = filter(None, [_key_beside_the_primary(entity, name) for name in read])
        stored = tuple(sorted(attributes | {each.key.name for each in (*entity.primary, *others, *made)}))
    is_kept: Callable[[str], bool] | None = None
    if entity.open and (names is None or names - entity.named.keys()):
        is_kept = (lambda name: name not in known) if names is None else (names - known).__contains__
    columns = DecodedColumns(declared, has_others=is_kept is not None)
    rows_of = _compiled_rows(entity, declared, broken, made, is_kept)
    return Decoder(stored, lambda items: Rows(columns, rows_of(items)))


def _keys_made(entity: Entity, index: Index) -> list[KeyTemplate]:
    """The keys of an index that are made of attributes which an item also has elsewhere, so that both may differ."""
    return [
        template
        for template in entity.templates[index]
        if any(entity.held_by_keys.get(name) != template and name != template.key.name for name in template.names)
    ]


def _sources_of(entity: Entity, names: Iterable[str]) -> set[str]:
    """The attributes from which missing ones of these are computed."""
    filled = [entity.named[name].absent for name in names if name in entity.named]
    return {source for each in filled if isinstance(each, Filled) for source in each.attributes}


def _in_primary_key(entity: Entity, name: str) -> bool:
    """Whether an attribute is read from the primary key, whatever the item has under its name."""
    return any(name in template.names and template.key.name != name for template in entity.primary)


def _key_beside_the_primary(entity: Entity, name: str) -> KeyTemplate | None:
    """The key of an index from which an attribute is read: because only a key holds it, or if the item lacks it."""
    if name not in entity.named or _in_primary_key(entity, name):
        return None
    if entity.named[name].absent is IN_INDEX:
        keys = (each for both in entity.templates.values() for each in both if name in each.names)
        return next(keys, None)
    return entity.held_by_keys.get(name)


def _fields(template: KeyTemplate, item: EncodedItem) -> Item:
    """The fields' values in a key of an item; none of them if it lacks the key, or has another one."""
    encoded = item.get(template.key.name)
    return (None if encoded is None else template.parse(decode(encoded))) or {}


def _compiled_rows(
    entity: Entity,
    names: Sequence[str],
    broken: Broken,
    keys: Sequence[KeyTemplate],
    is_kept: Callable[[str], bool] | None,
) -> Any:
    namespace = Namespace(decode=decode, number=read_number, fields=_fields, broken=broken, exact=_check_exact)
    read = [*names, *sorted(_sources_of(entity, names) - set(names))]
    variables = {name: f"v{at}" for at, name in enumerate(read)}
    lines = [*_from_primary_key(entity, variables, namespace)]
    for name, value in variables.items():
        if _in_primary_key(entity, name):
            continue
        key = (template := _key_beside_the_primary(entity, name)) and namespace.constant("key", template)
        if name in entity.held_by_keys:
            lines.append(f"{value} = fields({key}, item).get({name!r})")
            continue
        lines += [
            f"{value} = item.get({name!r})",
            f"if {value} is not None: {value} = {_value(entity.named[name], value)}",
        ]
        if key:
            lines.append(f"if {value} is None: {value} = fields({key}, item).get({name!r})")
        if any(each.key.name == name and each.key.type == "N" for each in entity.primary):
            lines.append(f"if {value} is not None: exact({value}, item[{name!r}]['N'])")
    in_order = sorted(read, key=lambda name: isinstance(entity.named[name].absent, Filled))  # computed ones at last
    lines += [line for name in in_order for line in _absent_and_checked(entity, name, variables, namespace)]
    lines += [_made(template, variables, namespace) for template in keys]
    row = "".join(f"v{at}, " for at in range(len(names)))
    if is_kept:
        lines.append(f"others = {namespace.constant('others', partial(_others, is_kept))}(item)")
        row += "others, "
    passed_over = ["except Exception as error:", "    broken(item, error)", "    continue"]
    body = ["try:", *(f"    {line}" for line in lines), *passed_over, f"append(({row}))"]
    return namespace.define_list("items", "for item in items:", body)


def _others(is_kept: Callable[[str], bool], item: EncodedItem) -> Item:
    """The undeclared attributes of an item."""
    return {name: decode(value) for name, value in item.items() if is_kept(name)}


def _check_exact(number: float, text: str) -> None:
    """Raise `InvalidItem` for a key that is another one once it is read, so that nothing could ask for it."""
    if repr(number) != text and Decimal(encode(number)["N"]) != Decimal(text):
        raise InvalidItem(f"the key {text} is not a number that a double holds")


def _made(template: KeyTemplate, variables: Mapping[str, str], namespace: Namespace) -> str:
    """A line that raises an error unless the attributes make a key that the item has in an index."""
    values, key = ", ".join([variables[name] for name in template.names]), f"item[{template.key.name!r}]"
    check = f"{namespace.constant('made', _check_made)}({namespace.constant('key', template)}, item, {values})"
    if any(field.optional or getattr(field, "digits", None) for field in template.fields):
        return check
    usual_key = "%s".join([literal.replace("%", "%%") for literal in template.literals])
    return f"if {key}[{template.key.type!r}] != {usual_key!r} % ({values},): {check}"


def _check_made(template: KeyTemplate, item: EncodedItem, *values: Any) -> None:
    """Raise `InvalidItem` unless values make the key of an item."""
    if None in values or template.render(values) != decode(item[template.key.name]):
        raise InvalidItem(f"`{template.key.name}` contradicts the attributes that it is made of")


def _from_primary_key(entity: Entity, variables: Mapping[str, str], namespace: Namespace) -> Iterator[str]:
    """Lines that pass over an item whose primary key is not of the entity, and read the attributes of the key."""
    for template in entity.primary:
        key = f"item[{template.key.name!r}]['S']"
        if template.key.type == "N":
            continue
        if not template.fields:
            yield f"if {key} != {template.literals[0]!r}: continue"
            continue
        match = namespace.constant("match", template.pattern.fullmatch)
        yield f"if (found_in_key := {match}({key})) is None: continue"
        for at, field in enumerate(template.fields, 1):
            if (value := variables.get(field.name)) and template.key.name != field.name:
                convert = "" if isinstance(field, Text) else namespace.constant("of", field.of_text)
                yield f"{value} = {convert}(found_in_key[{at}])"


def _absent_and_checked(entity: Entity, name: str, variables: Mapping[str, str], namespace: Namespace) -> Iterator[str]:
    """Lines that give a missing attribute its value, and raise an error for one that a reader cannot take."""
    attribute, value = entity.named[name], variables[name]
    if isinstance(attribute.absent, Filled):
        sources = ", ".join([variables[each] for each in attribute.absent.attributes])
        yield f"if {value} is None: {value} = {namespace.constant('fill', attribute.absent.compute)}({sources})"
    elif attribute.absent is not None:
        yield f"if {value} is None: {value} = {namespace.constant('absent', attribute.absent)}"
    if entity.record is None or isinstance(attribute, JsonDocument):
        test, check = f"{value}.__class__ in {namespace.constant('classes', attribute.classes)}", attribute.check_class
    else:
        test, check = usual(attribute, value), attribute.check
    checks = [f"if not ({test}): {namespace.constant('check', check)}({value})"]
    if entity.record and (convert := entity.record.conversions().get(name)):
        checks.append(f"{namespace.constant('convert', convert)}({value})")
    may_be_partial = not (entity.record or entity.open)  # an update of the service may have made the item
    if attribute.optional or may_be_partial:
        yield f"if {value} is not None:"
        yield from (f"    {line}" for line in checks)
    else:
        yield from checks


def _compiled_items(names: Sequence[str], *, has_others: bool) -> Any:
    values = "".join(f"v{at}, " for at in range(len(names))) + ("others, " if has_others else "")
    begin = "item = others.copy()" if has_others else "item = {}"
    lines = [f"if v{at} is not None: item[{name!r}] = v{at}" for at, name in enumerate(names)]
    return Namespace().define_list("rows", f"for ({values}) in rows:", [begin, *lines, "append(item)"])


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
