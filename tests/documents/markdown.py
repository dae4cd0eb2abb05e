"""The Markdown files of the project and their parts: code blocks, code spans, links, headings, tables.

A code block that a test of its own executes is preceded by a comment that names it, and is not
executed a second time: `<!-- tested by: tests/domain/test_example_domain.py -->`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
PATHS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob("graph/**/*.md")]
)

_BLOCK = re.compile(
    r"(?:^ *<!-- tested by: (?P<test>\S+) -->\n)?^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
_SPAN = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Block:
    """A code block."""

    language: str
    text: str
    test: str | None  # the file that executes it, where this is not left to the tests of documents


def _blocks(text: str) -> list[Block]:
    return [Block(found["language"], dedent(found["text"]), found["test"]) for found in _BLOCK.finditer(text)]


@dataclass(frozen=True)
class Document:
    """A Markdown file."""

    path: Path

    @property
    def name(self) -> str:
        """The path in the project."""
        return str(self.path.relative_to(ROOT))

    @cached_property
    def text(self) -> str:
        """All of it."""
        return self.path.read_text()

    @cached_property
    def prose(self) -> str:
        """The text without its code blocks."""
        return _BLOCK.sub("", self.text)

    @cached_property
    def blocks(self) -> list[Block]:
        """Its code blocks, in order."""
        return _blocks(self.text)

    @property
    def spans(self) -> list[str]:
        """The code spans in its prose."""
        return _SPAN.findall(self.prose)

    @property
    def links(self) -> Iterator[str]:
        """The targets of its links and pictures."""
        prose = _SPAN.sub("", self.prose)
        for pattern in (r"\]\(([^)\s]+)\)", r"<(https?://[^>]+)>", r'(?:src|srcset|href)="([^"]+)"'):
            yield from re.findall(pattern, prose)

    @cached_property
    def anchors(self) -> set[str]:
        """The names of its headings, as GitHub makes them."""
        headings = re.findall(r"^#+ (.*)$", self.prose, re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    def section(self, heading: str) -> str:
        """The text below a heading, up to the next one of its level or above."""
        level = re.search(rf"^(#+) {re.escape(heading)}$", self.text, re.MULTILINE)
        assert level, f"{self.name} has no heading {heading}"
        return re.split(rf"^#{{1,{len(level[1])}}} ", self.text[level.end() :], maxsplit=1, flags=re.MULTILINE)[0]

    def blocks_below(self, heading: str) -> list[Block]:
        """The code blocks below a heading, up to the next one of its level."""
        return _blocks(self.section(heading))

    def rows(self, heading: str) -> list[list[str]]:
        """The cells of the table below a heading, without its head."""
        lines = [line for line in self.section(heading).splitlines() if line.startswith("|")]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]

    def names(self, heading: str, column: int = 0) -> list[str]:
        """The code spans in a column of the table below a heading."""
        return [name for row in self.rows(heading) for name in _SPAN.findall(row[column])]


DOCUMENTS = [Document(path) for path in PATHS]


def document(name: str) -> Document:
    """The document with this path."""
    return next(one for one in DOCUMENTS if one.name == name)
