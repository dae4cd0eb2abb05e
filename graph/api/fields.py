"""Fields with resolvers: each declares in one call what it returns, needs, reads and costs.

    @field("What waits for it.", of=EndpointQueue, cost=2, reads=["endpoint_id"])
    @staticmethod
    async def queue(endpoint: strawberry.Parent[model.Endpoint], info: Info) -> Any: …

The text beside an argument's type describes it: `hours: Annotated[int, "Reported within so many hours."] = 6`.
"""

from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Annotated, Any, TypedDict, Unpack, get_origin

import strawberry
from strawberry.types.field import StrawberryField

from graph.access.callers import Scope
from graph.api.feeds import reads_feeds
from graph.api.recorded import Facts, recorded
from graph.api.scopes import RequiresScopes
from graph.api.selected import needs
from graph.api.shown import shown
from graph.api.sizes import Cost, ListSize
from graph.feed.sequence import SequenceEntities

Decorator = Callable[[Any], Any]

BEFORE = object()
"""The key in a field's metadata of the name of the field that it precedes."""


class Options(TypedDict, total=False):
    """What a field declares beside its description. The schema prints directives in the order of these arguments."""

    of: Any  # its type in the schema, if the resolver's annotation names neither that nor the records that it shows
    scope: Scope  # required of the caller
    cost: int  # points, see `Cost`
    size: ListSize | int  # of its list, or the assumed one
    feeds: Iterable[SequenceEntities]  # whose records are all that it reads, see `feeds`
    reads: Iterable[str]  # the attributes that the resolver reads of its record or of its page's records
    route: str  # of its request logs
    facts: Facts  # for its request logs
    name: str  # in the schema
    before: str  # the field that it precedes, where its type is of a domain that this one builds on


def field(description: str, **options: Unpack[Options]) -> Decorator:
    """Make a field of a resolver: of a type, of Query or of Mutation."""

    def decorate(resolver: Any) -> Any:
        of: Options = {"of": shown(options.get("of", _function(resolver).__annotations__["return"]))}
        return strawberry_field(description, {**options, **of})(described(resolver))

    return decorate


def subscription(description: str, message: Any, **options: Unpack[Options]) -> Decorator:
    """Make a field of Subscription, which sends messages of a type."""
    streaming: Options = {"of": AsyncGenerator[message, None], **options}
    return lambda resolver: strawberry_field(description, streaming, is_subscription=True)(described(resolver))


def strawberry_field(description: str, options: Options, **others: Any) -> StrawberryField:
    """The field without its resolver."""
    directives = [_directive(name, value) for name, value in options.items() if name in ("scope", "cost", "size")]
    metadata: dict[Any, Any] = {**needs(*options["reads"])} if "reads" in options else {}
    if "feeds" in options:
        metadata |= reads_feeds(options["feeds"])
    if "before" in options:
        metadata[BEFORE] = options["before"]
    if "route" in options or "facts" in options:
        metadata |= recorded(options.get("route"), facts=options.get("facts"))
    made: StrawberryField = strawberry.field(
        description=description,
        name=options.get("name"),
        graphql_type=options.get("of"),
        directives=directives,
        metadata=metadata,
        **others,
    )
    return made


def _directive(name: str, value: Any) -> object:
    match name:
        case "scope":
            return RequiresScopes(scopes=[[value]])
        case "cost":
            return Cost(weight=value)
    return value if isinstance(value, ListSize) else ListSize(assumed_size=value)


def shows(description: str, **options: Any) -> Any:
    """A field that shows an attribute of its object, with a description, and options of `strawberry.field`."""
    return strawberry.field(description=description, **options)


def optional(description: str, *, name: str | None = None) -> Any:
    """A field of an input that may be left out, and is None then."""
    return strawberry.field(name=name, default=None, description=description)


def described(resolver: Any) -> Any:
    """The resolver, whose arguments have the descriptions that stand beside their types."""
    function = _function(resolver)
    function.__annotations__ = {name: argument(of) for name, of in function.__annotations__.items()}
    return resolver


def _function(resolver: Any) -> Any:
    return resolver.__func__ if isinstance(resolver, staticmethod) else resolver


def argument(of: Any) -> Any:
    """The type of an argument, with the description that stands beside it."""
    if get_origin(of) is not Annotated:
        return of
    described = [strawberry.argument(description=each) if isinstance(each, str) else each for each in of.__metadata__]
    return Annotated[of.__origin__, *described]
