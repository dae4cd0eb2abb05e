"""Compares `schema.graphql` with the schema of the last release. `docs/upgrading.md` must name each breaking change.

A change is named by its schema coordinate in backticks: `Event.recordedTime`, `Query.event(asOf:)`, `ByteCount`. A name
such as `Query.*` is for fields of which nothing changes but that they may be null. Another default value breaks
clients, too.

`python -m scripts.breaking_changes --release` makes the present schema the released one. Its first line is the heading
of the page's newest section: from there on, the page names changes of the past.
"""

import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from graphql import build_schema
from graphql.utilities import find_breaking_changes, find_dangerous_changes

ROOT = Path(__file__).parents[1]
PRESENT = ROOT / "schema.graphql"
RELEASED = ROOT / "scripts/released.graphql"
PAGE = ROOT / "docs/upgrading.md"

_COORDINATE = re.compile(r"@\w+(?:\(\w+:\))?|\w+\.\w+(?:\(\w+:\))?|(?<=from union type )\w+")
_DESCRIPTION = re.compile(r'\n? *"""[^"]*(?:"{1,2}[^"]+)*"""')
_EMPTY_LINE = re.compile(r"\n\n+(?=  )")
_NULLABLE = re.compile(r"changed type from (\S+)! to \1\.$")


def unnamed(released: str, present: str, page: str) -> Iterator[str]:
    """The breaking changes from one schema to another that a page does not name."""
    named = set(re.findall(r"`([^`\n]+)`", page.partition(released.partition("\n")[0])[0]))
    schemas = build_schema(released), build_schema(present)
    defaults = [change for change in find_dangerous_changes(*schemas) if "DEFAULT_VALUE" in change.type.name]
    for change in [*find_breaking_changes(*schemas), *defaults]:
        text = change.description
        found = _COORDINATE.search(text)
        coordinate = found[0] if found else text.removeprefix("Standard scalar ").split()[0]
        may_be_null = _NULLABLE.search(text) and any(fnmatchcase(coordinate, each) for each in named)
        if not may_be_null and coordinate not in named:
            yield f"`{coordinate}`: {text}"


def main() -> int:
    """Print the breaking changes that have no name in the page. Returns 1 if there are any."""
    if sys.argv[1:] == ["--release"]:
        heading = next(line for line in PAGE.read_text().splitlines() if line.startswith("## "))
        RELEASED.write_text(heading + "\n" + _EMPTY_LINE.sub("\n", _DESCRIPTION.sub("", PRESENT.read_text())))
        return 0
    changes = list(unnamed(RELEASED.read_text(), PRESENT.read_text(), PAGE.read_text()))
    for change in changes:
        print(f"{PAGE.name} does not name {change}", file=sys.stderr)
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
