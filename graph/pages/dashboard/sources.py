"""The dashboard's own files, their version, and where the build puts their bundle.

The build runs this module by itself (`hatch_build.py`), so it imports the standard library alone.
"""

from hashlib import sha256
from pathlib import Path

_HERE = Path(__file__).parent
PAGE = _HERE / "page"
SOURCES = {path.relative_to(PAGE).as_posix(): path for path in sorted(PAGE.rglob("*")) if path.is_file()}
BUNDLES = _HERE / "bundles"
ENTRIES = ("main.js", "main.css", "event/event_page.js", "event/event_page.css")
"""What a page loads at its start. In the bundle, each has all that it imports."""


def _version() -> str:
    digest = sha256()
    for name, path in SOURCES.items():
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


VERSION = _version()
"""A hash of the contents of all files."""

BUNDLE = BUNDLES / VERSION
