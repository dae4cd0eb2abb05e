"""Types of the graph that show records and values: resolvers return these, and their annotations name them.

    @record_type(model.Event, load=load_by(Catalogue, Catalogue.events), scope=EVENTS_READ, pages="events")
    class Event(relay.Node):
        ids: auto = strawberry.field(directives=[FEW])

The type shows every attribute of the record that is described, in the record's order, and then the fields of its own.
The class declares only what differs: the record's attribute of the same name gives a field its description, unless it
has one, and its type, if it is `auto`. Likewise, a type shows the `described` parts of a value. A value whose type has
its own name, and no options, needs no declaration.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from inspect import getattr_static
from typing import Any, NamedTuple, TypeVar, cast, dataclass_transform, get_args, get_type_hints

import strawberry
from strawberry.scalars import JSON
from strawberry.types.field import StrawberryField
from strawberry.types.lazy_type import LazyType

from graph.access.callers import Scope
from graph.api import relay, shown
from graph.api.context import Load
from graph.api.feeds import note_feeds
from graph.api.fields import Options, shows, strawberry_field
from graph.api.scalars import ByteCount, EpochMillis
from graph.api.times import time_field
from graph.core.described import DESCRIPTION, INSTANT
from graph.feed.sequence import SequenceEntities
from graph.store.attributes import JsonDocument, Text, Whole
from graph.store.query import Needed
from graph.store.records import Derived, Record, Stored

T = TypeVar("T")

UNITS: dict[str, Any] = {"epoch ms": EpochMillis, "bytes": ByteCount}
"""Unit of a whole number → its type in the graph."""


@dataclass_transform(kw_only_default=True, field_specifiers=(strawberry.field, StrawberryField, shows))
def record_type(
    record: Any,
    description: str | None = None,
    *,
    load: Load[str, Needed, Any] | None = None,
    scope: Scope | None = None,
    key: str | None = None,
    pages: str | None = None,
    feeds: Iterable[SequenceEntities] | None = None,
    hidden: Collection[str] = (),
) -> Callable[[type[T]], type[T]]:
    """Make a type of the graph.

    Args:
        record: the class of its objects, a record or another value.
        description: by default the first paragraph of the record's.
        load: loads the objects of a `relay.Node` by their keys.
        scope: required to read them as nodes.
        key: the attribute by which `load` finds them, if it is one: other graphs know them by it.
        pages: the objects of a page, if there is a connection of them, whose type has no fields of its own.
        feeds: whose records are all that the objects hold, that `load` reads, and that the type's own resolvers
            without `info` read, see `feeds`.
        hidden: described attributes that are not shown.
    """

    def decorate(of: type[T]) -> type[T]:
        _show_described(of, record, hidden)
        _complete(of, record)
        made: Any = strawberry.type(
            of, description=description or " ".join(record.__doc__.partition("\n\n")[0].split())
        )
        shown.types[record] = made
        if feeds is not None:
            note_feeds(made, feeds)
        if load:
            made.found_by = relay.FoundBy(record, load, scope, key, None if feeds is None else frozenset(feeds))
        if pages:
            shown.pages[record] = relay.connection(made, pages)
        return cast("type[T]", made)

    return decorate


@dataclass_transform(kw_only_default=True, field_specifiers=(strawberry.field, StrawberryField, shows))
def record_interface(
    record: type[Record], description: str, *, feeds: Iterable[SequenceEntities], hidden: Collection[str]
) -> Callable[[type[T]], type[T]]:
    """Make an interface of the fields that several types have, all of which show records of this class."""

    def decorate(of: type[T]) -> type[T]:
        _show_described(of, record, hidden)
        _complete(of, record)
        made = strawberry.interface(of, description=description)
        note_feeds(made, feeds)
        return made

    return decorate


@dataclass_transform(kw_only_default=True, field_specifiers=(strawberry.field, StrawberryField, shows))
def record_input(record: type[Record], names: Iterable[str], **options: Any) -> Callable[[type[T]], type[T]]:
    """Make an input that has, behind its own fields, these attributes of a record. Each may be left out.

    Args:
        record: the record that declares them.
        names: of the attributes, in the order of the fields.
        options: of `strawberry.input`.
    """

    def decorate(of: type[T]) -> type[T]:
        details = list(names)
        own = [(name, type_) for name, type_ in of.__annotations__.items() if name not in details]
        of.__annotations__ = dict([*own, *((name, strawberry.auto) for name in details)])
        for name in details:
            if name not in vars(of):
                setattr(of, name, strawberry.field(default=None))
        _complete(of, record, optional=details)
        return strawberry.input(of, **options)

    return decorate


def value_type(of: Any, name: str | None = None, *, computed: Iterable[str] = (), **single: Options) -> Any:
    """Make a type of the graph that shows a dataclass, whose docstring describes it. Resolvers return the dataclass.

    A dataclass may have several types: a field names the one it shows, see `fields.Options.of`.

    Args:
        of: parts of it that are not described are not shown. An `instant` is a `DateTime`.
        name: of the type; by default that of the dataclass.
        computed: properties that are shown behind the parts. Their docstrings describe them.
        single: options of single fields.
    """
    parts = parts_of(of)
    for part in computed:
        compute = getattr(of, part).fget
        parts.append(Part(part, get_type_hints(compute)["return"], {DESCRIPTION: text_of(compute)}))
    made = type(name or of.__name__, (), {})
    _show_parts(made, parts, single)
    return record_type(of, text_of(of))(made)


class Part(NamedTuple):
    """A described part of a value."""

    name: str
    type: Any
    words: Mapping[str, str]


def parts_of(of: Any) -> list[Part]:
    """The described parts of a value, in order."""
    described = [part for part in (fields(of) if is_dataclass(of) else ()) if DESCRIPTION in part.metadata]
    hints = get_type_hints(of) if described else {}
    return [Part(part.name, hints[part.name], part.metadata) for part in described]


def _show_parts(of: type, parts: Iterable[Part], options: Mapping[str, Options]) -> None:
    """Add a field for each part of a value to a class, unless the class declares it, before its own fields."""
    shows: dict[str, Any] = {}
    for part in parts:
        name, description = part.name, part.words[DESCRIPTION]
        if name in vars(of):
            continue
        shows[name] = type_of_part(part)
        if INSTANT in part.words:
            field = time_field(name, description)
        else:
            field = strawberry_field(description, {"of": shows[name], **options.get(name, {})})
        setattr(of, name, field)
    of.__annotations__ = shows | of.__annotations__


def type_of_part(part: Part, kind: type[LazyType[Any, Any]] = shown.TypeOf) -> Any:
    """The type of a part in the graph."""
    is_id = part.name.endswith("_id") and part.type in (str, str | None)
    scalar: Any = datetime if INSTANT in part.words else strawberry.ID if is_id else None
    if scalar is None:
        return shown.shown(part.type, kind)
    return scalar | None if type(None) in get_args(part.type) else scalar


def text_of(described: Any) -> str:
    """The docstring in one line."""
    return " ".join(described.__doc__.split())


def _show_described(of: type, record: type, hidden: Collection[str]) -> None:
    """Add what a record or a value describes to the fields of a class, unless its base has them."""
    if not issubclass(record, Record):
        _show_parts(of, parts_of(record), {})
        return
    declared = record.declarations()
    inherited = {field.name for base in of.__bases__ if is_dataclass(base) for field in fields(base)}
    if inherited & declared.keys():
        return
    own = of.__annotations__
    wanted = [name for name, each in declared.items() if each.description and name not in {*hidden, *vars(of)}]
    of.__annotations__ = {name: own.get(name, strawberry.auto) for name in declared if name in {*wanted, *own}} | own


def _complete(of: type, record: type, optional: Iterable[str] = ()) -> None:
    """Write what the record declares into the fields of a class that say less."""
    for name, annotation in of.__annotations__.items():
        of.__annotations__[name] = shown.shown(annotation)
        declared = getattr_static(record, name, None)
        if not isinstance(declared, Stored | Derived):
            if annotation is strawberry.auto:
                raise TypeError(f"{record.__name__}.{name} declares no field of {of.__name__}")
            continue
        if annotation is strawberry.auto:
            may_lack = name in optional or (isinstance(declared, Stored) and declared.optional)
            of.__annotations__[name] = _type_of(name, declared) | None if may_lack else _type_of(name, declared)
        field = vars(of).get(name)
        if field is None:
            setattr(of, name, strawberry.field(description=declared.description or None))
        elif not field.description:
            field.description = declared.description or None


def _type_of(name: str, declared: Stored[Any] | Derived[Any]) -> Any:
    """The type of an attribute in the graph."""
    match declared:
        case Stored(convert=None, kind=Whole(unit=unit)) if unit in UNITS:
            return UNITS[unit]
        case Stored(convert=None, kind=JsonDocument()):
            return JSON
        case Stored(convert=None, kind=Text()) | Derived() if name.endswith("_id"):
            return strawberry.ID
    return shown.shown(declared.python_type)
