"""Admission to the event loop: what takes long there waits for a time slice of its own."""

import asyncio
from typing import cast

import pytest

from graph.api.documents.persisted import AutomaticDocuments
from graph.api.documents.prepared import Document, Documents
from graph.core.errors import OperationResolutionFailure
from graph.transport.entrance import Entrance
from graph.transport.request import GraphQLRequest
from graph.transport.validators import Validators
from graph.work.account import Work
from graph.work.pace import SHORT_AT_ONCE, Pace
from tests.settings import Settings
from tests.transport.processes import a_process, an_exchange

LOOKUPS = 2 * SHORT_AT_ONCE


class SlowDocuments:
    """Documents of which each takes 3 ms to prepare, and none has an operation."""

    def __init__(self) -> None:
        self.now = 0.0
        self.prepared = 0

    def remembered(self, text: str) -> None:
        return None

    def of(self, text: str) -> Document:
        self.now += 0.003
        self.prepared += 1
        return cast("Document", self)

    def operation(self, name: str | None) -> None:
        raise OperationResolutionFailure


async def test_an_iteration_of_the_loop_prepares_one_new_document_at_most() -> None:
    documents = SlowDocuments()
    pace = Pace(burst_s=0.001, resting_iterations=1, clock=lambda: documents.now, used=lambda: documents.now)
    entrance = Entrance(cast("Documents", documents), AutomaticDocuments(), Validators("", Settings(), ()))
    process = a_process(work=Work(pace=pace))

    async def admitted(number: int) -> None:
        request = GraphQLRequest(f"{{ f{number} }}", None, None, None)
        with pytest.raises(OperationResolutionFailure), an_exchange(process) as exchange:
            await entrance.admitted(exchange, request)

    tasks = [asyncio.create_task(admitted(number)) for number in range(LOOKUPS)]
    most = 0
    while not all(task.done() for task in tasks):
        before = documents.prepared
        await asyncio.sleep(0)
        most = max(most, documents.prepared - before)
    await asyncio.gather(*tasks)

    assert (documents.prepared, most) == (LOOKUPS, 1)
