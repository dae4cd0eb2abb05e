"""Fields that are connections: a resolver takes a request for a page, and clients get Relay's arguments.

@connection_field("Notes, latest first.", RECENT)
async def notes(self, info: Info, page: PageRequest) -> Page[Note]:
    return await info.context.service(Notes).recent(page)

The records are those of the page that the resolver returns.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Unpack, cast, get_args, get_origin

from graph.api import relay
from graph.api.context import Info
from graph.api.fields import Decorator, Options, argument, described, strawberry_field
from graph.api.selected import selected_attributes, selects
from graph.api.shown import PageOf, shown
from graph.core.paging import Later, Page, Paging
from graph.store.ordering import Order, PageRequest
from graph.store.records import Record

Resolver = Callable[..., Awaitable[Page[Any]]]

PAGE = "page"  # the resolver's parameter that clients do not see
BEHIND = {False: "hasPreviousPage", True: "hasNextPage"}  # whether a page was read backward → what lies behind it


ARGUMENTS = [
    Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=argument(of))
    for name, of in (("first", relay.First), ("after", relay.After), ("last", relay.Last), ("before", relay.Before))
]
"""The arguments that select a page."""

OrderOf = Callable[[Mapping[str, Any]], Order]
"""Chooses the order of a connection by the field's arguments, which have their names in Python."""


def connection_field(
    description: str,
    order: Order | OrderOf,
    **options: Unpack[Options],
) -> Decorator:
    """Make a field of a resolver: a connection, read with the attributes that are selected.

    Args:
        order: of its cursors; a function if an argument chooses it.
        options: as those of `field`; a `size` replaces that of an ordinary page.
    """

    def field(resolver: Resolver) -> Any:
        page = signature(resolver).return_annotation
        record = _record_of(page)
        sized: Options = {} if "size" in options else {"size": relay.PAGE_SIZE}
        of: Options = {"of": shown(page) if isinstance(page, type) else PageOf(record.__qualname__, record.__module__)}
        made = strawberry_field(description, {**of, **sized, **options})
        return made(_with_arguments(described(resolver), record, order))

    return field


def _with_arguments(resolver: Resolver, record: type[Record], order: Order | OrderOf) -> Resolver:
    """The resolver with `first`, `after`, `last` and `before` in place of `page`."""

    @wraps(resolver)
    async def resolve(
        *source: Any,
        info: Info,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
        **others: Any,
    ) -> Page[Any]:
        sizes, chosen = info.context.page_sizes, order(others) if callable(order) else order
        paging = Paging.read(chosen.place_of, sizes, first=first, after=after, last=last, before=before)
        page = PageRequest(paging, selected_attributes(info, record))
        found: Page[Any] = await resolver(*source, info=info, **{PAGE: page}, **others)
        if isinstance(found.has_behind, Later) and selects(info, "pageInfo", BEHIND[found.backward]):
            # A page of plain values is completed by one function, without an executor.
            return replace(found, has_behind=await found.has_behind)
        return found

    own = signature(resolver)
    parameters = [each for each in own.parameters.values() if each.name != PAGE]
    described: Any = resolve
    described.__signature__ = own.replace(parameters=[*parameters, *ARGUMENTS])
    return resolve


def _record_of(page: Any) -> type[Record]:
    """The class of a page's records: `Page[Note]`, or a subclass of it."""
    ((record,),) = [get_args(each) for each in (page, *getattr(page, "__orig_bases__", ())) if get_origin(each) is Page]
    return cast("type[Record]", record)
