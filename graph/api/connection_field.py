"""Fields that are connections: the resolver takes a `PageRequest`, and clients get Relay's arguments.

@connection_field(NoteConnection, RECENT, Note, description="Notes, latest first.")
async def notes(self, info: Info[Context, None], page: PageRequest) -> Page[Note]:
    return await info.context.service(Notes).recent(page)
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from typing import Any

import strawberry
from strawberry.types import Info

from graph.api import relay
from graph.api.context import Context
from graph.api.selected import selected_attributes
from graph.core.paging import Page
from graph.store.ordering import Ordering, PageRequest
from graph.store.records import EntityRecord

Resolver = Callable[..., Awaitable[Page[Any]]]

PAGE = "page"  # the resolver's parameter, which clients do not see
ARGUMENTS = [
    Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=of)
    for name, of in (("first", relay.First), ("after", relay.After), ("last", relay.Last), ("before", relay.Before))
]


def connection_field(
    of: type, ordering: Ordering, record: type[EntityRecord], *, directives: Iterable[object] = (), **options: Any
) -> Callable[[Resolver], Any]:
    """Turn a resolver into a connection field, which reads only the selected attributes.

    Args:
        of: the connection's Strawberry type.
        record: the class of its records.
        directives: further directives, beside the page's size.
        options: further options of `strawberry.field`.
    """

    def field(resolver: Resolver) -> Any:
        described: Any = _with_arguments(resolver, ordering, record)
        return strawberry.field(described, graphql_type=of, directives=[relay.PAGE_SIZE, *directives], **options)

    return field


def _with_arguments(resolver: Resolver, ordering: Ordering, record: type[EntityRecord]) -> Resolver:
    """The resolver with `first`, `after`, `last` and `before` in place of `page`."""

    @wraps(resolver)
    async def resolve(
        self: Any,
        info: Info[Context, None],
        *,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
        **others: Any,
    ) -> Page[Any]:
        paging = ordering.paging(info.context.page_sizes, first=first, after=after, last=last, before=before)
        page = PageRequest(paging, selected_attributes(info, record))
        return await resolver(self, info, **{PAGE: page}, **others)

    own = signature(resolver)
    parameters = [each for each in own.parameters.values() if each.name != PAGE]
    described: Any = resolve
    described.__signature__ = own.replace(parameters=[*parameters, *ARGUMENTS])
    return resolve
