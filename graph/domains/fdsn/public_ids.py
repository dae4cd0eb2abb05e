"""The public ids of QuakeML: `quakeml:AUTHORITY/event/us7000kz6a`.

An id of an event may hold any printable character, a public id only some. The others are written as `~`, the bytes
of UTF-8 in hexadecimal digits, and `~`, so that each event has a public id of its own, from which its id can be read.

Source: the pattern of `ResourceIdentifier` in QuakeML-BED-1.2.
"""

import re

AUTHORITY = r"[A-Za-z0-9][A-Za-z0-9._()*'~-]{2,}"
"""What may stand before the first slash: three characters or more, and no colon."""

_EVENT = re.compile(rf"(?:smi|quakeml):{AUTHORITY}/event/(?P<id>\S+)")
_PLAIN = re.compile(r"[A-Za-z0-9_.*()'+=;-]+")
_OTHER = re.compile(r"[^A-Za-z0-9_.*()'+=;-]+")
_ESCAPED = re.compile(r"~((?:[0-9a-f]{2})+)~")


def local_part(event_id: str) -> str:
    """An event's id as it stands in a public id."""
    if _PLAIN.fullmatch(event_id):
        return event_id
    return _OTHER.sub(lambda found: f"~{found[0].encode().hex()}~", event_id)


def event_id_of(text: str) -> str:
    """The id of the event that a client names, by its id or its public id."""
    found = _EVENT.fullmatch(text)
    return _ESCAPED.sub(_unescaped, found["id"]) if found else text


def _unescaped(found: re.Match[str]) -> str:
    try:
        return bytes.fromhex(found[1]).decode()
    except UnicodeDecodeError:
        return found[0]  # then it names no event
