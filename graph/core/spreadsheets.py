"""CSV of which a spreadsheet computes no text, such as `=1+1`.

Source: https://owasp.org/www-community/attacks/CSV_Injection
"""

from typing import Any

INERT = "'"
"""Before a text, it tells spreadsheets not to compute it."""

COMPUTED = ("=", "+", "-", "@", "\t", "\r", INERT)
"""What texts begin with that a spreadsheet computes, or that look as if they were marked already."""


def inert(value: Any) -> Any:
    """The value, of which a spreadsheet computes nothing."""
    return INERT + value if isinstance(value, str) and value.startswith(COMPUTED) else value
