"""Who sent a request, for fields whose records belong to a user."""

from strawberry.types import Info

from graph.api.context import Context
from graph.core.errors import Unauthenticated


def user_of(context: Context) -> str:
    """The user who sent the request.

    Raises:
        Unauthenticated: It has no token. The scopes of these fields need one in any case.
    """
    if context.caller.subject is None:
        raise Unauthenticated("This needs a token: send it as `Authorization: Bearer …`.")
    return context.caller.subject


def user(info: Info[Context, None]) -> str:
    """The user who sent the request of a field."""
    return user_of(info.context)
