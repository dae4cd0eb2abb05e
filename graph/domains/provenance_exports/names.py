"""What this service calls itself and its things in the documents that it exports. None of these names ever changes."""

import re
from datetime import datetime
from urllib.parse import quote

from graph.domains.data_files.datasets import SOFTWARE

IRI = f"urn:{SOFTWARE}:"  # the beginning of every name

_LAST_DOT = re.compile(r"\.$")


def local_name(kind: str, *parts: str) -> str:
    """A name within `IRI` that is a local name of PROV-N too: ASCII only, escaped, and with no dot at its end."""
    return _LAST_DOT.sub("%2E", f"{kind}/{'@'.join(quote(part, safe='') for part in parts)}")


def date_time(time: datetime) -> str:
    """A UTC time, as RFC 3339 and XML Schema write it."""
    return f"{time.replace(tzinfo=None).isoformat()}Z"
