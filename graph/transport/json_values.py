"""Parses JSON of clients, if it has not too many values.

A parser makes an object of two or three bytes, and nothing else runs meanwhile. So values are counted before.
"""

import asyncio

import orjson

from graph.core.errors import BadRequest

PIECE_BYTES = 64 * 1024  # counted at once


async def parsed_json(text: bytes, what: str, most: int) -> tuple[object, int]:
    """What a text is as JSON, and the most values that this has, with all lists and objects.

    Args:
        what: the text, for messages.
        most: values.

    Raises:
        BadRequest: It is no JSON, or has more values.
    """
    number = _signs(text)
    if number > most and (number := await _values(text)) > most:
        raise BadRequest(f"{what} has more than {most:,} values: send less at once.", status=413)
    try:
        return orjson.loads(text), number
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"{what} is not JSON: {error.msg}.") from error


def _signs(text: bytes) -> int:
    """The number of signs that divide values, in texts also."""
    return 1 + text.count(b",") + text.count(b"[") + text.count(b"{")


async def _values(text: bytes) -> int:
    """The number of signs that divide values, outside of texts. It gives way to other work."""
    number = 1
    is_text = False
    escaped = b""
    for start in range(0, len(text), PIECE_BYTES):
        piece = escaped + text[start : start + PIECE_BYTES]
        kept = piece.rstrip(b"\\")
        escaped = b"\\" * ((len(piece) - len(kept)) % 2)  # belongs to the first character of the next piece
        parts = kept.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        number += _signs(b"".join(parts[is_text::2])) - 1
        is_text ^= len(parts) % 2 == 0
        await asyncio.sleep(0)
    return number
