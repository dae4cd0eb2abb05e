"""Splits shell commands of documents into words. It knows only as much of a shell as the documents use."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

SUBSTITUTED = "substituted-by-the-output-of-another-command"  # 32 characters or more, as a secret needs

_SUBSTITUTION = re.compile(r"\$\(([^()]*)\)")


@dataclass
class Command:
    """A simple command."""

    words: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)  # variables that stand before it
    output: str | None = None  # the file that takes its output

    @property
    def name(self) -> str:
        """The program, without the folder of the environment."""
        return self.words[0].removeprefix(".venv/bin/")


def commands(text: str) -> Iterator[Command]:
    """The simple commands of a script, in order; those within `$(…)` before the one that uses their output."""
    for line in text.replace("\\\n", " ").splitlines():
        for inner in _SUBSTITUTION.findall(line):
            yield from commands(inner)
        yield from _commands_of_line(_SUBSTITUTION.sub(SUBSTITUTED, line))


def _commands_of_line(line: str) -> Iterator[Command]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    command, is_output = Command(), False
    for word in lexer:
        if set(word) <= set("&|;"):
            yield command
            command = Command()
        elif word == ">":
            is_output = True
        elif is_output:
            command.output, is_output = word, False
        elif not command.words and (assigned := re.fullmatch(r"([A-Za-z_]+)=(.*)", word)):
            command.settings[assigned[1]] = assigned[2]
        else:
            command.words.append(word)
    if command.words or command.settings:
        yield command
