"""How errors are told to a client: each with a stable code, and nothing of the inside in any."""

from collections.abc import Mapping
from typing import Any

from graphql import ExecutionResult, FieldNode, GraphQLError

from graph.api.documents.prepared import InvalidDocument
from graph.core.errors import BadUserInput, GraphError, InternalServerError
from graph.observability.logs import get_logger
from graph.observability.metrics import OK

LONGEST_MESSAGE = 1000  # characters; graphql-core repeats the value that it refuses, which may be a megabyte

logger = get_logger(__name__)

Told = dict[str, Any]
"""An error as it stands in the answer."""


def told(error: GraphError) -> Told:
    """An error that belongs to no place in the document. What only an operator may know is logged."""
    if error.detail:
        logger.error("An error has a cause that its client is not told", code=error.code, cause=error.detail)
    return {"message": str(error), "extensions": error.extensions}


def told_of_document(error: GraphQLError, code: str) -> Told:
    """An error of a document or its variables, which were not executed."""
    cause = cause_of(error)
    if isinstance(cause, GraphError):
        return {**error.formatted, **told(cause)}
    return {**error.formatted, "message": cut(error.message), "extensions": {"code": code}}


def told_of_field(error: GraphQLError, request_id: str) -> Told:
    """An error of a field's resolver, or of a value that it returned."""
    cause = cause_of(error)
    if isinstance(cause, GraphError):
        return {**error.formatted, **told(cause)}
    if isinstance(cause, GraphQLError) and is_about_an_argument(cause):
        return told_of_document(error, BadUserInput.code)
    logger.error("A field could not be resolved", request_id=request_id, exc_info=cause)
    return {**error.formatted, **told(InternalServerError(request_id))}


def told_of_result(result: ExecutionResult, request_id: str) -> dict[str, Any]:
    """What was executed: `data`, and `errors` where there are any."""
    errors = [told_of_field(error, request_id) for error in result.errors or ()]
    return {"data": result.data, "errors": errors} if errors else {"data": result.data}


def code_of(answer: Mapping[str, Any]) -> str:
    """The code of an answer's first error, or OK."""
    errors = answer.get("errors")
    return errors[0]["extensions"]["code"] if errors else OK


def told_of_refusal(error: Exception, request_id: str) -> list[Told]:
    """Why an operation was not executed, or a request not answered."""
    if isinstance(error, InvalidDocument):
        return [told_of_document(each, error.code) for each in error.errors]
    if isinstance(error, GraphError):
        return [told(error)]
    logger.error("A request could not be answered", request_id=request_id, exc_info=error)
    return [told(InternalServerError(request_id))]


def cut(message: str) -> str:
    """The message, or its beginning where it is too long to be read."""
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…"


def cause_of(error: GraphQLError) -> Exception:
    """What went wrong first: graphql-core wraps it, and what it wrapped already."""
    cause: Exception = error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    return cause


def is_about_an_argument(cause: GraphQLError) -> bool:
    """Whether graphql-core refused an argument's value, which for null in a variable it does only in execution."""
    return any(not isinstance(node, FieldNode) for node in cause.nodes or ())
