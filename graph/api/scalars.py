"""The scalars that GraphQL itself lacks, and the descriptions of enums."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Any, NewType, TypeVar, cast

import strawberry
from graphql import GraphQLError
from strawberry.types.scalar import ScalarDefinition

from graph.core.days import EPOCH_TIME

E = TypeVar("E", bound=Enum)

EpochMillis = NewType("EpochMillis", int)
_MILLISECOND = timedelta(milliseconds=1)
LARGEST_EXACT = 2**53 - 1  # the largest integer that every JSON reader reads without rounding


def millis_floor(time: datetime) -> int:
    """The last millisecond that is not after a time, since 1970."""
    return (time - EPOCH_TIME) // _MILLISECOND


def millis_ceil(time: datetime) -> int:
    """The first millisecond that is not before a time, since 1970."""
    return -((EPOCH_TIME - time) // _MILLISECOND)


def _parse_millis(value: Any) -> int:
    if type(value) is float and value.is_integer():
        value = int(value)  # GraphQL accepts 1e12 as a whole number
    if type(value) is not int or abs(value) > LARGEST_EXACT:
        raise GraphQLError("EpochMillis must be a whole number of milliseconds, at most 2^53 - 1 from 1970.")
    return value


def _parse_time(value: Any) -> datetime:
    try:
        time = datetime.fromisoformat(value)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphQLError("DateTime must be an ISO 8601 time such as 2023-08-03T02:52:13.180Z.") from error


def _parse_date(value: Any) -> date:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise GraphQLError("Date must be an ISO 8601 date such as 2023-08-03.") from error


def _write_time(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


SCALARS: dict[object, ScalarDefinition] = {
    EpochMillis: strawberry.scalar(
        name="EpochMillis",
        description="Milliseconds since 1970-01-01T00:00:00Z as a JSON number, negative before. Exact below 2^53.",
        serialize=int,
        parse_value=_parse_millis,
    ),
    datetime: strawberry.scalar(
        name="DateTime",
        description="A time in ISO 8601, written in UTC with milliseconds. A time without an offset is read as UTC.",
        serialize=_write_time,
        parse_value=_parse_time,
        specified_by_url="https://scalars.graphql.org/andimarek/date-time",
    ),
    date: strawberry.scalar(
        name="Date",
        description="A UTC day in ISO 8601, `2023-08-03`.",
        serialize=date.isoformat,
        parse_value=_parse_date,
        specified_by_url="https://scalars.graphql.org/andimarek/local-date",
    ),
}
"""Python type → scalar, for the schema's configuration."""


def describe_enum(enum: type[E], description: str, value: Callable[[E], str]) -> None:
    """Add an enum of a lower layer to the schema, with a description for each of its values."""
    described = cast("Any", strawberry.enum(enum, description=description))
    for member, definition in zip(enum, described.__strawberry_definition__.values, strict=True):
        definition.description = value(member)
