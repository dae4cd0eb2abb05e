"""Does what the page on DynamoDB does, from tables that other programs have made to the running service."""

import asyncio
import json
from collections.abc import Iterable
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace
from io import StringIO
from typing import Any

import httpx
import pytest

from graph.domains.earthquake_events import EARTHQUAKE_EVENTS
from graph.domains.triggers.entities import EVENTS
from graph.store.dynamodb.declaration import table_properties
from tests.bearers import SECRET
from tests.documents.markdown import Block, document
from tests.documents.shell import SUBSTITUTED, Command, commands
from tests.documents.test_commands import CURL, HERE
from tests.other_programs import client
from tests.processes import TIMEOUT_S, quakegraph
from tests.service import Service, running
from tests.settings import Settings

SECTION = document("docs/dynamodb.md").blocks_below("From an existing table to the running service")


@pytest.fixture
def existing_tables(new_dynamodb: str) -> None:
    """The tables that the programs have, without the indexes that one of them lacks."""
    for design in (replace(EVENTS, indexes=()), EARTHQUAKE_EVENTS):
        client().create_table(**table_properties(design, design.name.format(env="dev")))


class Reader:
    """Does what the page says, with a shell and a Python of its own."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._python: dict[str, Any] = {}
        self._variables: dict[str, str] = {}
        self._service: Service | None = None

    def do(self, block: Block) -> str:
        """Execute a block. Returns the output of its last command."""
        if block.language == "python":
            with redirect_stdout(StringIO()) as printed:
                exec(block.text, self._python)  # noqa: S102
            return printed.getvalue()
        output = ""
        for command in commands(block.text):
            taken = {name: value.replace(SUBSTITUTED, output.strip() or SECRET) for name, value in assigned(command)}
            self._variables |= taken
            output = output if taken else self._printed(command)
        return output

    def _printed(self, command: Command) -> str:
        match command.words:
            case ["openssl", *_]:
                return SECRET
            case ["curl", *arguments]:
                return self._fetched(CURL.parse_args(arguments))
            case ["quakegraph", "serve"]:
                domains = self._variables["GRAPH_DOMAINS"].split(",")
                settings = Settings(store=self._variables["GRAPH_STORE"], domains=domains)
                self._service = self._stack.enter_context(running(settings))
                return ""
            case ["quakegraph", *arguments]:
                return quakegraph(*arguments, settings=self._variables).stdout
        raise ValueError(command.words)

    def _fetched(self, given: Any) -> str:
        assert self._service
        headers = dict(header.replace("$TOKEN", self._variables["TOKEN"]).split(": ", 1) for header in given.headers)
        url = given.url.replace(HERE, self._service.url)
        return httpx.post(url, headers=headers, content=given.body, timeout=TIMEOUT_S, trust_env=False).text


def assigned(command: Command) -> Iterable[tuple[str, str]]:
    """The variables that a command sets."""
    if command.words[:1] == ["export"]:
        return [(name, value) for name, _, value in (word.partition("=") for word in command.words[1:])]
    return command.settings.items() if not command.words else ()


async def test_the_page_leads_from_existing_tables_to_the_running_service(existing_tables: None) -> None:
    """Only what is adopted is counted, so a query is repeated until its answer is the printed one."""
    with ExitStack() as stack:
        reader, last, output = Reader(stack), SECTION[0], ""
        for block in SECTION:
            if block.language in ("python", "sh"):
                last, output = block, await asyncio.to_thread(reader.do, block)
            elif block.language == "text":
                assert output == block.text
            else:
                async with asyncio.timeout(TIMEOUT_S):
                    while json.loads(output) != json.loads(block.text):
                        output = await asyncio.to_thread(reader.do, last)
