"""The scalars that GraphQL itself lacks."""

from datetime import date, datetime
from typing import Any, NewType

import strawberry
from graphql import GraphQLError
from strawberry.types.scalar import ScalarDefinition

from graph.core.numbers import whole
from graph.core.times import (
    DATE_FORM,
    TIME_FORMS,
    InvalidTime,
    millis_ceil,
    millis_floor,
    millis_of,
    parse_date,
    parse_time,
    rfc3339,
)

__all__ = ["LARGEST_EXACT", "SCALARS", "ByteCount", "EpochMillis", "millis_ceil", "millis_floor", "millis_of"]

ByteCount = NewType("ByteCount", int)
EpochMillis = NewType("EpochMillis", int)
LARGEST_EXACT = 2**53 - 1  # the largest integer that every JSON reader reads without rounding


def _parse_millis(value: Any) -> int:
    millis = whole(value)
    if millis is None or abs(millis) > LARGEST_EXACT:
        raise GraphQLError("EpochMillis must be a whole number of milliseconds, at most 2^53 - 1 from 1970.")
    return millis


def _parse_size(value: Any) -> int:
    size = whole(value)
    if size is None or not 0 <= size <= LARGEST_EXACT:
        raise GraphQLError("ByteCount must be a whole number from 0 to 2^53 - 1.")
    return size


def _parse_time(value: Any) -> datetime:
    try:
        return parse_time(value)
    except (TypeError, InvalidTime) as error:
        raise GraphQLError(f"DateTime must be {TIME_FORMS}.") from error


def _parse_date(value: Any) -> date:
    try:
        return parse_date(value)
    except (TypeError, InvalidTime) as error:
        raise GraphQLError(f"Date must be {DATE_FORM}.") from error


SCALARS: dict[object, ScalarDefinition] = {
    ByteCount: strawberry.scalar(
        name="ByteCount",
        description="A number of bytes as a JSON number, exact below 2^53.",
        serialize=int,
        parse_value=_parse_size,
    ),
    EpochMillis: strawberry.scalar(
        name="EpochMillis",
        description="Milliseconds since 1970-01-01T00:00:00Z as a JSON number, negative before. Exact below 2^53.",
        serialize=int,
        parse_value=_parse_millis,
    ),
    datetime: strawberry.scalar(
        name="DateTime",
        description=(
            "A time of RFC 3339, written in UTC with milliseconds. An argument needs an offset, such as `Z` or "
            "`+02:00`; one between two milliseconds is rounded into the time range. An argument may also be a date, "
            "`2023-08-03`: as the start of a time range, it is the beginning of that day, UTC; as the end, its end."
        ),
        serialize=rfc3339,
        parse_value=_parse_time,
        specified_by_url="https://scalars.graphql.org/andimarek/date-time",
    ),
    date: strawberry.scalar(
        name="Date",
        description="A UTC day, `2023-08-03`, and no other form of ISO 8601.",
        serialize=date.isoformat,
        parse_value=_parse_date,
        specified_by_url="https://scalars.graphql.org/andimarek/local-date",
    ),
}
"""Python type → scalar, for the schema's configuration."""
