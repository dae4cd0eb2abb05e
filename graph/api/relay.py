"""Relay's types: nodes with global ids, connections, edges and page information.

Their objects are plain: a connection is a `Page` of records, and a record is its own edge and node,
with its `identity` and `position`. So a page makes no objects beside its records.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from types import new_class
from typing import Annotated, Any, ClassVar, Generic, TypeVar, cast

import strawberry
from graphql import FieldNode
from strawberry.types import Info

from graph.access.callers import Scope
from graph.api.context import Load
from graph.api.feeds import reads_feeds
from graph.api.fields import field
from graph.api.selected import needs, passes_records_on
from graph.api.sizes import ListSize
from graph.core.errors import BadUserInput
from graph.core.paging import Page
from graph.feed.sequence import SequenceEntities
from graph.store.between import MOST_COUNTED
from graph.store.query import Needed
from graph.store.records import Record

NodeType = TypeVar("NodeType")

First = Annotated[int | None, "The number of nodes after `after`, or from the beginning."]
After = Annotated[str | None, "A cursor: the page begins after it."]
Last = Annotated[int | None, "The number of nodes before `before`, or up to the end."]
Before = Annotated[str | None, "A cursor: the page ends before it."]

PAGE_SIZE = ListSize(slicing_arguments=["first", "last"], sized_fields=["edges", "nodes"])
"""The directive of a connection field. Without `first` and `last` a page has the default size."""

COUNTING = 10
"""The price of a total. What its count reads besides is charged as it is read."""

OF_OBJECT = {**needs(), **reads_feeds(())}
OF_RECORDS = {**passes_records_on(), **reads_feeds(())}
"""The metadata of fields that read only what gave them their object."""

ID_VERSION = 1
_ID = re.compile(r"(?P<version>\d{1,4}):(?P<type>[A-Z][A-Za-z]*):(?P<key>[^\x00-\x1f\x7f]{1,500})")


def global_id(type_name: str, key: str) -> strawberry.ID:
    """The id of a node. It never changes, is URL-safe, and has a third more characters than its text has bytes."""
    text = f"{ID_VERSION}:{type_name}:{key}"
    return strawberry.ID(urlsafe_b64encode(text.encode()).rstrip(b"=").decode())


def parse_global_id(node_id: str) -> tuple[str, str]:
    """The type's name and the key that a global id holds.

    Raises:
        BadUserInput: It is not an id of this graph. This needs no look-up.
    """
    try:
        found = _ID.fullmatch(urlsafe_b64decode(node_id.encode() + b"=" * (-len(node_id) % 4)).decode())
    except ValueError:
        found = None
    if not found or int(found["version"]) != ID_VERSION or global_id(found["type"], found["key"]) != node_id:
        raise BadUserInput("`id` is not an id of this graph: pass a node's `id` back unchanged.")
    return found["type"], found["key"]


def key_of(node: "type[Node]", given: str, argument: str) -> str:
    """The key of a node that an argument names, by its global id or by its own id.

    Raises:
        BadUserInput: It is the global id of another type.
    """
    try:
        type_name, key = parse_global_id(given)
    except BadUserInput:
        return given
    wanted = type_name_of(node)
    if type_name != wanted:
        raise BadUserInput(f"`{argument}` is an id of the type {type_name}: pass one of the type {wanted}.")
    return key


@dataclass(frozen=True, slots=True)
class FoundBy:
    """How the objects of a type are found by their global ids."""

    record: type[Record]  # of these objects
    load: Load[str, Needed, Any]  # loads the existing ones with these keys, with the needed attributes
    scope: Scope | None  # required to read them
    key: str | None = None  # the attribute with which their global ids end, if it is one
    feeds: frozenset[SequenceEntities] | None = None  # all that `load` reads; None if that is not known


@strawberry.interface(description="An object with a stable id, by which `node` finds it again.")
class Node:
    found_by: ClassVar[FoundBy]  # set by `record_type`

    @strawberry.field(description="Global id: opaque, stable, URL-safe.", metadata=OF_OBJECT)
    @staticmethod
    def id(record: strawberry.Parent[Any]) -> strawberry.ID:
        return global_id(*record.identity)

    @classmethod
    def is_type_of(cls, record: object, info: object) -> bool:
        """Whether a record is one of this type."""
        return isinstance(record, cls.found_by.record)


def type_name_of(node: type[Node]) -> str:
    """The name of a type of nodes in the schema."""
    definition: Any = node
    return str(definition.__strawberry_definition__.name)


@strawberry.type(description="Whether more nodes precede or follow a page, and the page's cursors.")
class PageInfo:
    # These two are values or awaitable: see `Page`.
    @strawberry.field(description="Whether more nodes follow the page. Exact.", metadata=OF_OBJECT)
    @staticmethod
    def has_next_page(page: strawberry.Parent[Page[Any]]) -> bool:
        return cast("bool", page.has_next)

    @strawberry.field(description="Whether more nodes precede the page. Exact.", metadata=OF_OBJECT)
    @staticmethod
    def has_previous_page(page: strawberry.Parent[Page[Any]]) -> bool:
        return cast("bool", page.has_previous)

    @strawberry.field(description="The cursor of the first edge; null for an empty page.", metadata=OF_OBJECT)
    @staticmethod
    def start_cursor(page: strawberry.Parent[Page[Any]]) -> str | None:
        return page.records[0].cursor if page.records else None

    @strawberry.field(description="The cursor of the last edge; null for an empty page.", metadata=OF_OBJECT)
    @staticmethod
    def end_cursor(page: strawberry.Parent[Page[Any]]) -> str | None:
        return page.records[-1].cursor if page.records else None


_ONLY_TOTAL = ("totalCount", "totalCountReason", "__typename")


def selects_only_total(info: Info[Any, Any]) -> bool:
    """Whether only the total of a connection is selected, so that no page need be read."""
    sets = [node.selection_set for node in info._raw_info.field_nodes]
    selected = [selection for each in sets if each for selection in each.selections]
    return all(isinstance(each, FieldNode) and each.name.value in _ONLY_TOTAL for each in selected)


def itself(parent: strawberry.Parent[Any]) -> Any:
    """A resolver: the same object as another type. A record is its own node, edge and mutation's payload."""
    return parent


SAME: dict[Callable[..., Any], tuple[str, ...]] = {itself: ()}
"""Such resolvers → the attributes of a record's item without which they return None."""


def itself_with(*attributes: str) -> Callable[..., Any]:
    """Make a resolver: as `itself`, but None for a record that lacks one of these attributes."""

    def resolve(record: strawberry.Parent[Any]) -> Any:
        return None if any(record.item.get(name) is None for name in attributes) else record

    SAME[resolve] = attributes
    return resolve


def _records(page: strawberry.Parent[Page[Any]]) -> Any:
    return page.records


@strawberry.type(description="A node of a connection, with its cursor.")
class Edge(Generic[NodeType]):
    cursor: str = strawberry.field(  # every query reads the position
        description="The node's position: pass it back unchanged as `after` or `before`.", metadata=OF_OBJECT
    )
    node: NodeType = strawberry.field(description="The node itself.", resolver=itself, metadata=OF_RECORDS)


def total_count(description: str) -> Any:
    """The field that is the total of a connection's pages."""

    async def resolve(page: strawberry.Parent[Page[Any]]) -> int | None:
        total = await page.read_total()
        return total if isinstance(total, int) else None

    return field(description, cost=COUNTING, feeds=[], reads=[])(staticmethod(resolve))


@strawberry.type(description="A page of a list.")
class Connection(Generic[NodeType]):
    edges: list[Edge[NodeType]] = strawberry.field(
        description="The page's nodes with their cursors, in order.", resolver=_records, metadata=OF_RECORDS
    )
    nodes: list[NodeType] = strawberry.field(
        description="The page's nodes without cursors, in order.", resolver=_records, metadata=OF_RECORDS
    )
    page_info: PageInfo = strawberry.field(
        description="Whether more nodes precede or follow the page, and its cursors.",
        resolver=itself,
        metadata=OF_RECORDS,
    )
    total_count = total_count(
        "The exact number of nodes on all pages. Null with a `totalCountReason` if more than "
        f"{MOST_COUNTED:,} would have to be counted one by one, or more than the operation may read."
    )

    @field("Why the nodes are not counted; null if they are.", cost=COUNTING, feeds=[], reads=[])
    @staticmethod
    async def total_count_reason(page: strawberry.Parent[Page[Any]]) -> str | None:
        total = await page.read_total()
        return total if isinstance(total, str) else None


def connection(of: type, nodes: str) -> Any:
    """The type of a page of these nodes, without fields of its own: `connection(FieldNote, "field notes")`."""
    base: Any = Connection
    made = new_class(f"{of.__name__}Connection", (base[of],))
    return strawberry.type(made, description=f"A page of {nodes}.")
