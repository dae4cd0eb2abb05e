"""The ids of logs: UUIDs, given or derived."""

import re
from hashlib import blake2b

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID, in the usual form and of any case."""
    return _UUID.fullmatch(text) is not None


def uuid_of(text: str) -> str:
    """A UUID of version 8 (RFC 9562) from a text."""
    digits = blake2b(text.encode(), digest_size=16).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
