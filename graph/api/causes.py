"""What an error of graphql-core is about."""

from graphql import FieldNode, GraphQLError
from strawberry.exceptions import StrawberryInputCoercionError


def cause_of(error: GraphQLError) -> Exception:
    """The original error, which graphql-core may have wrapped several times."""
    cause: Exception = error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    return cause


def refuses_an_argument(cause: Exception) -> bool:
    """Whether it refuses the value of an argument during execution.

    Only then does graphql-core check null in a variable, and Strawberry the one field of a `@oneOf` input.
    """
    if isinstance(cause, StrawberryInputCoercionError):
        return True
    return isinstance(cause, GraphQLError) and any(not isinstance(node, FieldNode) for node in cause.nodes or ())
