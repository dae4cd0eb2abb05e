"""Executes each query of a document on the demo's week, in order, and compares the answer with the one below it."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from graphql import OperationDefinitionNode, OperationType, parse, validate

from tests.documents.markdown import DOCUMENTS, ROOT, Block, Document
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.schemas import schema
from tests.service import running, settings
from tests.settings import Settings
from tests.store.samples import HeldClock
from tests.subscribers import event_stream, live_service

ANSWER = {"data", "errors"}


@dataclass(frozen=True)
class Query:
    """A query of a document, with the blocks below it."""

    text: str
    variables: Any = None
    answer: Any = None  # None where none is shown

    @property
    def type(self) -> OperationType:
        """The type of its operation."""
        operations = [node for node in parse(self.text).definitions if isinstance(node, OperationDefinitionNode)]
        return operations[0].operation


def queries(document: Document) -> Iterator[Query]:
    """The queries of a document that no other test executes."""
    blocks = [*document.blocks, Block("", "", None)]
    for at, block in enumerate(blocks):
        if block.language != "graphql" or block.test:
            continue
        variables = answer = None
        for below in blocks[at + 1 : at + 3]:
            if below.language != "json":
                break
            value = json.loads(below.text)
            if value.keys() <= ANSWER:
                answer = value
            else:
                variables = value
        yield Query(block.text, variables, answer)


WITH_QUERIES = {document.name: document for document in DOCUMENTS if any(queries(document))}


@pytest.mark.parametrize("name", WITH_QUERIES)
def test_the_queries_have_the_answers_that_are_printed(
    name: str, tmp_path: Path, week_file: Path, usgs: UsgsServer
) -> None:
    shutil.copy(week_file, tmp_path / "week.db")

    with running(settings(tmp_path / "week.db", usgs), clock=HeldClock()) as service:
        for query in queries(WITH_QUERIES[name]):
            assert validate(schema, parse(query.text)) == []
            if query.type is OperationType.SUBSCRIPTION:
                continue
            answer = service.answer(query.text, query.variables)
            if query.answer is None:
                assert answer.keys() == {"data"}, answer
            else:
                assert answer == query.answer


async def test_a_subscription_sends_what_is_stored(tmp_path: Path) -> None:
    found = [query for document in WITH_QUERIES.values() for query in queries(document)]
    subscriptions = [query for query in found if query.type is OperationType.SUBSCRIPTION]
    with live_service(Settings(store=f"sqlite:///{tmp_path}/live.db")) as service:
        for number, query in enumerate(subscriptions, 1):
            async with event_stream(service.url, query.text, variables=query.variables) as stream:
                assert await stream.block() == b":"  # which says that the stream has begun
                service.store(f"us{number}", mag=4.5)
                notice = (await stream.next_data())["events"]
            assert (notice["event"]["eventId"], notice["dropped"]) == (f"us{number}", 0)
    assert subscriptions


def test_the_readme_has_five_queries_each_with_its_answer_and_a_marked_block_names_an_existing_file() -> None:
    readme = list(queries(WITH_QUERIES["README.md"]))
    assert len(readme) == 5
    assert all(query.answer for query in readme)
    tests = {block.test for document in DOCUMENTS for block in document.blocks if block.test}
    assert [test for test in tests if not (ROOT / test).is_file()] == []
