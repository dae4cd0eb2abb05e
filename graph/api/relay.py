"""Relay's types: nodes with global ids, connections, edges and page information.

The objects behind them are plain: a connection is a `Page` of records, an edge and a node are
the record itself, which says its `identity` and its `position`. So a page costs no object but
its records, and a slice adds a connection by naming it.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Annotated, Any, Generic, TypeVar, cast

import strawberry
from graphql import FieldNode, SelectionNode
from strawberry.types import Info

from graph.api.selected import needs, passes_records_on
from graph.api.sizes import ListSize
from graph.core.errors import BadUserInput
from graph.core.paging import Page

NodeType = TypeVar("NodeType")

First = Annotated[int | None, strawberry.argument(description="The first so many behind `after`.")]
After = Annotated[str | None, strawberry.argument(description="A cursor: begin behind it.")]
Last = Annotated[int | None, strawberry.argument(description="The last so many before `before`.")]
Before = Annotated[str | None, strawberry.argument(description="A cursor: end before it.")]

PAGE_SIZE = ListSize(slicing_arguments=["first", "last"], sized_fields=["edges", "nodes"])
"""The directive of a field that is a connection; without `first` and `last` a page has its default size."""

ID_VERSION = 1
_ID = re.compile(r"(?P<version>\d{1,4}):(?P<type>[A-Z][A-Za-z]*):(?P<key>[^\x00-\x1f\x7f]{1,100})")


def global_id(type_name: str, key: str) -> strawberry.ID:
    """The id of a node: the same for ever, URL-safe, at most 128 characters for a key of ASCII."""
    text = f"{ID_VERSION}:{type_name}:{key}"
    return strawberry.ID(urlsafe_b64encode(text.encode()).rstrip(b"=").decode())


def parse_global_id(node_id: str) -> tuple[str, str]:
    """The type's name and the key that a global id holds.

    Raises:
        BadUserInput: It is not an id that this graph hands out. No look-up is needed to tell.
    """
    try:
        found = _ID.fullmatch(urlsafe_b64decode(node_id.encode() + b"=" * (-len(node_id) % 4)).decode())
    except ValueError:
        found = None
    if not found or int(found["version"]) != ID_VERSION or global_id(found["type"], found["key"]) != node_id:
        raise BadUserInput("`id` is not an id of this graph: pass a node's `id` back unchanged.")
    return found["type"], found["key"]


@strawberry.interface(description="An object with an id that stays the same and finds it again through `node`.")
class Node:
    @strawberry.field(description="Global id: opaque, stable, URL-safe.", metadata=needs())
    @staticmethod
    def id(record: strawberry.Parent[Any]) -> strawberry.ID:
        return global_id(*record.identity)

    @classmethod
    def is_type_of(cls, record: Any, info: object) -> bool:
        """Whether a record is one of this type. A type whose pages are long may have a quicker way to tell."""
        definition: Any = cls
        return bool(record.identity[0] == definition.__strawberry_definition__.name)


@strawberry.type(description="What lies on either side of a page.")
class PageInfo:
    # These two are known by now, or awaited: see `Page`.
    @strawberry.field(description="Whether more follows behind the page. Exact.", metadata=needs())
    @staticmethod
    def has_next_page(page: strawberry.Parent[Page[Any]]) -> bool:
        return cast("bool", page.has_next)

    @strawberry.field(description="Whether more precedes the page. Exact.", metadata=needs())
    @staticmethod
    def has_previous_page(page: strawberry.Parent[Page[Any]]) -> bool:
        return cast("bool", page.has_previous)

    @strawberry.field(description="The cursor of the first edge; null for an empty page.", metadata=needs())
    @staticmethod
    def start_cursor(page: strawberry.Parent[Page[Any]]) -> str | None:
        return page.records[0].cursor if page.records else None

    @strawberry.field(description="The cursor of the last edge; null for an empty page.", metadata=needs())
    @staticmethod
    def end_cursor(page: strawberry.Parent[Page[Any]]) -> str | None:
        return page.records[-1].cursor if page.records else None


def asks_for_total_alone(info: Info[Any, Any]) -> bool:
    """Whether of a connection nothing is selected but its total, so that no page need be read."""
    selected = [selection for node in info._raw_info.field_nodes for selection in _selections(node)]
    return all(isinstance(each, FieldNode) and each.name.value in ("totalCount", "__typename") for each in selected)


def _selections(node: FieldNode) -> Sequence[SelectionNode]:
    return node.selection_set.selections if node.selection_set else ()


def itself(parent: strawberry.Parent[Any]) -> Any:
    """A resolver: the same object, seen as another type. A record is its node, its edge and a mutation's payload."""
    return parent


def _records(page: strawberry.Parent[Page[Any]]) -> Any:
    return page.records


@strawberry.type(description="A node in its place in a connection.")
class Edge(Generic[NodeType]):
    cursor: str = strawberry.field(description="The place: pass it back as `after` or `before`, unchanged.")
    node: NodeType = strawberry.field(description="The node itself.", resolver=itself, metadata=passes_records_on())


@strawberry.type(description="A page of a list.")
class Connection(Generic[NodeType]):
    edges: list[Edge[NodeType]] = strawberry.field(
        description="The page's nodes with their cursors, in order.", resolver=_records, metadata=passes_records_on()
    )
    nodes: list[NodeType] = strawberry.field(
        description="The page's nodes alone, in order.", resolver=_records, metadata=passes_records_on()
    )
    page_info: PageInfo = strawberry.field(
        description="What lies on either side of the page.", resolver=itself, metadata=passes_records_on()
    )
