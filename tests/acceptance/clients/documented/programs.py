"""Runs a program of docs/clients/ in a folder of its own, with the service of a test in place of the documented one."""

import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from tests.documents.markdown import Block, document
from tests.processes import TIMEOUT_S, environment

HERE = "//127.0.0.1:8000"  # the service, as documents name it
ENVIRONMENT = {**environment(), "NO_PROXY": "127.0.0.1", "PYTHONUNBUFFERED": "1"}


def blocks(page: str, heading: str, language: str) -> list[str]:
    """The code blocks of a language below a heading of a page."""
    return [block.text for block in document(page).blocks_below(heading) if block.language == language]


def with_output(page: str, language: str) -> list[tuple[str, str]]:
    """The programs of a page, each with what it prints, if that is below it."""
    pairs = pairwise(document(page).blocks)
    return [(program.text, output.text) for program, output in pairs if _prints(program, output, language)]


def _prints(program: Block, output: Block, language: str) -> bool:
    return program.language == language and output.language == "text"


def at(url: str, text: str) -> str:
    """The text with the address of a service in place of the documented one."""
    return text.replace(HERE, url.removeprefix("http:"))


def run(*command: str | Path, folder: Path, settings: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command, which must succeed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**ENVIRONMENT, **(settings or {})},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done


def lines(text: str) -> Sequence[str]:
    """The lines without spaces at their ends, which a document cannot have."""
    return [line.rstrip() for line in text.splitlines()]
