"""Mutations: each has an input and a payload of its own, which are named after it.

    @mutation("Pause an endpoint.", carries="endpoint", scope=TRIGGERS_WRITE)
    async def pause_endpoint(self, info: Info, input: EndpointInput) -> model.Endpoint: …

In the schema, this takes a `PauseEndpointInput` and answers a `PauseEndpointPayload`, whose only field is `endpoint`.
Mutations may share the classes that say what is in them. The input's description is that of the argument, too.
"""

from collections.abc import Sequence
from types import new_class
from typing import Annotated, Any, Unpack

import strawberry
from strawberry.types.lazy_type import LazyType

from graph.api import relay
from graph.api.context import Info
from graph.api.fields import Decorator, Options, field
from graph.api.selected import selected_attributes
from graph.api.shown import inputs, shown

MOST_CHANGED = 100  # nodes that a payload carries


def mutation(description: str, *, carries: str | None = None, **options: Unpack[Options]) -> Decorator:
    """Make a field of Mutation, of a resolver with the parameter `input`.

    Args:
        carries: the payload's only field, which is what the resolver returns; by default, that is the payload itself.
        options: of `field`.
    """

    def decorate(resolver: Any) -> Any:
        taken, noun = resolver.__annotations__, "".join(map(str.capitalize, resolver.__name__.split("_")))
        shared = _carrying(taken["return"], carries) if carries else options.get("of", taken["return"])
        payload = _own(shared, f"{noun}Payload", strawberry.type)
        given = _own(taken["input"], f"{noun}Input", strawberry.input)
        taken["input"] = Annotated[given, given.__strawberry_definition__.description]
        own: Options = {**options, "of": payload}
        return field(description, **own)(resolver)

    return decorate


def _carrying(node: Any, name: str) -> type:
    """A payload of a node alone."""
    words = f"The {name.replace('_', ' ')}."
    only = strawberry.field(description=words, resolver=relay.itself, graphql_type=shown(node))
    return strawberry.type(type("Payload", (), {name: only}), description=words)


def _own(shared: Any, name: str, declare: Any) -> Any:
    """The type of this name that has the fields of a shared one, or of the one that shows a record."""
    base: Any = inputs.get(shared) or shown(shared)
    if isinstance(base, LazyType):
        base = base.resolve_type()
    definition = base.__strawberry_definition__
    return base if definition.name == name else declare(new_class(name, (base,)), description=definition.description)


@strawberry.type(description="What was deleted.")
class Deleted:
    deleted_id: strawberry.ID = strawberry.field(description="Its global id.")


def deleted(node: type[relay.Node], key: str) -> Deleted:
    """The payload of a mutation that has deleted a node."""
    return Deleted(deleted_id=relay.global_id(relay.type_name_of(node), key))


async def changed(info: Info, node: type[relay.Node], keys: Sequence[str]) -> list[Any]:
    """The value of a payload's field: the nodes that were changed, the first ones of many, as they are now."""
    first = keys[:MOST_CHANGED]
    found = await node.found_by.load(info.context, first, selected_attributes(info, node.found_by.record))
    return [found[key] for key in first if key in found]
