"""Identifiers that sort by the time at which they were made: UUIDs of version 7, RFC 9562 section 5.7."""

import secrets
from uuid import UUID


def uuid7(now: int) -> str:
    """A new identifier.

    Args:
        now: epoch milliseconds.
    """
    value = (now & (1 << 48) - 1) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 7 << 76
    return str(UUID(int=value & ~(0b11 << 62) | 0b10 << 62))


def is_like_uuid7(text: str) -> bool:
    """Whether a text has the length and the version of such an identifier."""
    return len(text) == 36 and text[14] == "7"
