"""Formats errors for clients. Each has a stable code and reveals nothing internal."""

from collections.abc import Mapping
from typing import Any

from graphql import ExecutionResult, GraphQLError

from graph.api.causes import cause_of, refuses_an_argument
from graph.api.documents.prepared import InvalidDocument
from graph.core.errors import BadUserInput, GraphError, InternalServerError
from graph.observability.logs import get_logger
from graph.observability.metrics import OK

LONGEST_MESSAGE = 1000  # characters; graphql-core's message holds the refused value, which may be a megabyte

logger = get_logger(__name__)

FormattedError = dict[str, Any]
"""An error as a client sees it."""


def format_error(error: GraphError) -> FormattedError:
    """An error without a place in the document. Its internal detail is logged, and not sent."""
    if error.detail:
        logger.error("An error hides an internal cause", code=error.code, cause=error.detail)
    return {"message": str(error), "extensions": error.extensions}


def format_document_error(error: GraphQLError, code: str) -> FormattedError:
    """An error of a document or its variables. Nothing was executed."""
    cause = cause_of(error)
    if isinstance(cause, GraphError):
        return {**error.formatted, **format_error(cause)}
    return {**error.formatted, "message": cut(error.message), "extensions": {"code": code}}


def format_field_error(error: GraphQLError, request_id: str) -> FormattedError:
    """An error of a field's resolver, or of a value that it returned."""
    cause = cause_of(error)
    if isinstance(cause, GraphError) or refuses_an_argument(cause):
        return format_document_error(error, BadUserInput.code)
    logger.error("A field could not be resolved", request_id=request_id, exc_info=cause)
    return {**error.formatted, **format_error(InternalServerError(request_id))}


def format_result(result: ExecutionResult, request_id: str) -> dict[str, Any]:
    """The result of an execution: `data`, and `errors` if there are any."""
    errors = [format_field_error(error, request_id) for error in result.errors or ()]
    return {"data": result.data, "errors": errors} if errors else {"data": result.data}


def code_of(answer: Mapping[str, Any]) -> str:
    """The code of an answer's first error, or OK."""
    errors = answer.get("errors")
    return errors[0]["extensions"]["code"] if errors else OK


def format_refusal(error: Exception, request_id: str) -> list[FormattedError]:
    """The errors for a refused operation, or for a request that could not be answered."""
    if isinstance(error, InvalidDocument):
        return [format_document_error(each, error.code) for each in error.errors]
    if isinstance(error, GraphError):
        return [format_error(error)]
    logger.error("A request could not be answered", request_id=request_id, exc_info=error)
    return [format_error(InternalServerError(request_id))]


def cut(message: str) -> str:
    """The message, cut at its greatest length."""
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…"


def refusal_of(error: GraphQLError) -> Exception:
    """The cause of an error of graphql-core; a value that it refused makes the document invalid."""
    cause = cause_of(error)
    if refuses_an_argument(cause):
        return InvalidDocument([error], BadUserInput.code)
    return cause
