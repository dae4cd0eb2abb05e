"""Fields that are connections: a resolver takes a request for a page, and clients get Relay's arguments.

@connection_field(NoteConnection, RECENT, Note, description="Notes, latest first.")
async def notes(self, info: Info[Context, None], page: PageRequest) -> Page[Note]:
    return await info.context.service(Notes).recent(page)
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, Protocol

import strawberry
from strawberry.types import Info

from graph.api import relay
from graph.api.context import Context
from graph.api.selected import selected_attributes, selects
from graph.api.sizes import ListSize
from graph.core.paging import Later, Page, Paging
from graph.store.ordering import PageRequest
from graph.store.records import Record

Resolver = Callable[..., Awaitable[Page[Any]]]

PAGE = "page"  # the resolver's parameter that clients do not see
BEHIND = {False: "hasPreviousPage", True: "hasNextPage"}  # whether a page was read backward → what lies behind it
Arguments = Sequence[Parameter]


def _arguments(after: Any, before: Any) -> Arguments:
    """The arguments that select a page."""
    named = (("first", relay.First), ("after", after), ("last", relay.Last), ("before", before))
    return [Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=of) for name, of in named]


ARGUMENTS = _arguments(relay.After, relay.Before)
NUMBERED = _arguments(
    Annotated[int | None, strawberry.argument(description="A sequence number: the page begins after it.")],
    Annotated[int | None, strawberry.argument(description="A sequence number: the page ends before it.")],
)
"""The arguments of a connection whose cursors are numbers that its nodes have."""


class CursorReader(Protocol):
    """The order of a connection, such as `Ordering` or `TimeOrder`, as far as cursors need it."""

    def place_of(self, cursor: Any, argument: str) -> Any:
        """The position that a cursor holds, a text or a number; InvalidCursor for any other one."""


OrderOf = Callable[[Mapping[str, Any]], CursorReader]
"""Chooses the order of a connection by the field's arguments, which have their names in Python."""


def connection_field(
    of: Any,
    order: CursorReader | OrderOf,
    record: type[Record],
    *,
    directives: Sequence[object] = (),
    arguments: Arguments = ARGUMENTS,
    **options: Any,
) -> Callable[[Any], Any]:
    """Make a field of a resolver: a connection, read with the attributes that are selected.

    Args:
        of: the connection's type of Strawberry, or a lazy one.
        order: of its cursors; a function if an argument chooses it.
        record: the class of its records.
        arguments: that select a page.
        directives: a `ListSize` among them replaces that of an ordinary page.
        options: others of `strawberry.field`.
    """
    has_size = any(isinstance(each, ListSize) for each in directives)

    def field(resolver: Resolver) -> Any:
        described: Any = _with_arguments(resolver, order, record, arguments)
        sized = directives if has_size else [relay.PAGE_SIZE, *directives]
        return strawberry.field(described, graphql_type=of, directives=sized, **options)

    return field


def _with_arguments(
    resolver: Resolver, order: CursorReader | OrderOf, record: type[Record], arguments: Arguments
) -> Resolver:
    """The resolver with `first`, `after`, `last` and `before` in place of `page`."""

    @wraps(resolver)
    async def resolve(
        *source: Any,
        info: Info[Context, None],
        first: int | None = None,
        after: Any = None,
        last: int | None = None,
        before: Any = None,
        **others: Any,
    ) -> Page[Any]:
        sizes, chosen = info.context.page_sizes, order(others) if callable(order) else order
        paging = Paging[Any].read(chosen.place_of, sizes, first=first, after=after, last=last, before=before)
        page = PageRequest(paging, selected_attributes(info, record))
        found: Page[Any] = await resolver(*source, info=info, **{PAGE: page}, **others)
        if isinstance(found.has_behind, Later) and selects(info, "pageInfo", BEHIND[found.backward]):
            # A page of plain values is completed by one function, without an executor.
            return replace(found, has_behind=await found.has_behind)
        return found

    own = signature(resolver)
    parameters = [each for each in own.parameters.values() if each.name != PAGE]
    described: Any = resolve
    described.__signature__ = own.replace(parameters=[*parameters, *arguments])
    return resolve
