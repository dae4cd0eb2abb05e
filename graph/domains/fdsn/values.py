"""Reads the values of parameters, strictly: each reader returns a value, or raises `BadUserInput`."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graph.api.scalars import millis_ceil, millis_floor
from graph.core.errors import BadUserInput
from graph.core.names import is_line
from graph.core.times import InvalidTime, parse_time


@dataclass(frozen=True, slots=True)
class Reader:
    """How the text of a value is read. The message of a refusal begins with what the value must be."""

    type: str  # of XML Schema, for the WADL
    read: Callable[[str], Any]
    options: tuple[str, ...] = ()  # all values, if they are few words


_TIME = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    # USGS's search page writes a space before the clock. The `+` of a zone is a space, too, unless it is encoded.
    r"(?:[T ](?P<clock>[0-9]{2}:[0-9]{2})(?P<seconds>:[0-9]{2}(?:\.[0-9]{1,9})?)?(?P<zone>Z|[ +-][0-9]{2}:[0-9]{2})?)?"
)
_NUMBER = re.compile(r"[+-]?([0-9]{1,20}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,3})?")
_WHOLE = re.compile(r"([0-9]{1,15})(?:\.0{0,15})?")  # also 20.0, as a program writes it that has only one type
_TRUE = frozenset({"1", "true", "t", "yes", "y"})
_FALSE = frozenset({"0", "false", "f", "no", "n"})


def time(text: str) -> datetime:
    """A time: UTC unless it names a zone. A plain date is its first instant."""
    found = _TIME.fullmatch(text)
    try:
        if found is None:
            raise InvalidTime(text)
        clock, zone = f"{found['clock'] or '00:00'}{found['seconds'] or ':00'}", found["zone"] or "Z"
        return parse_time(f"{found['date']}T{clock}{zone.replace(' ', '+')}")
    except InvalidTime as error:
        raise BadUserInput("must be a time such as 2023-08-03T02:52:13.18 or 2023-08-03, in UTC") from error


def first_millisecond(text: str) -> int:
    """The first epoch millisecond that is not before a time."""
    return millis_ceil(time(text))


def last_millisecond(text: str) -> int:
    """The last epoch millisecond that is not after a time."""
    return millis_floor(time(text))


def next_millisecond(text: str) -> int:
    """The first epoch millisecond that is after a time."""
    return millis_floor(time(text)) + 1


def number(least: float, greatest: float) -> Reader:
    """A decimal number within bounds, which are included."""

    def read(text: str) -> float:
        value = float(text) if _NUMBER.fullmatch(text) else None
        if value is None or not least <= value <= greatest:
            raise BadUserInput(f"must be a number from {least:g} to {greatest:g}")
        return value

    return Reader("xs:double", read)


def whole(least: int) -> Reader:
    """A whole number of at least so many."""

    def read(text: str) -> int:
        value = int(found[1]) if (found := _WHOLE.fullmatch(text)) else None
        if value is None or value < least:
            raise BadUserInput(f"must be a whole number, {least} or more")
        return value

    return Reader("xs:int", read)


def truth(text: str) -> bool:
    """True or false, in the spellings of FDSN's clients. Python's `False` is among them."""
    if (value := text.lower()) in _TRUE | _FALSE:
        return value in _TRUE
    raise BadUserInput("must be true or false")


def one_of(*options: str, type: str = "xs:string") -> Reader:
    """One of some words, in lower case."""

    def read(text: str) -> str:
        if text.lower() not in options:
            raise BadUserInput(f"must be one of {', '.join(options)}")
        return text.lower()

    return Reader(type, read, options)


def texts(most: int, longest: int) -> Reader:
    """Some texts, separated by commas, without spaces around them."""

    def read(text: str) -> tuple[str, ...]:
        values = tuple(dict.fromkeys(each.strip() for each in text.split(",")))
        if len(values) > most or any(not 0 < len(each) <= longest or not is_line(each) for each in values):
            raise BadUserInput(f"must be text, or up to {most:,} texts with commas between them")
        return values

    return Reader("xs:string", read)


TRUTH = Reader("xs:boolean", truth)
FIRST_MILLISECOND, LAST_MILLISECOND, NEXT_MILLISECOND = (
    Reader("xs:dateTime", read) for read in (first_millisecond, last_millisecond, next_millisecond)
)
