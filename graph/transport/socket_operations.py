"""The operations of one WebSocket: each under its id, all of them bounded, and what is told of them.

    begin → next … → complete, or error

Source: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, aclosing, suppress
from typing import Any

from graph.api.documents.prepared import InvalidDocument
from graph.core.errors import TooManySubscriptions, outcome_of
from graph.observability import metrics
from graph.observability.logs import during_request, get_logger, on_behalf_of
from graph.transport.admission import Admission, Admitted, Asker
from graph.transport.errors import code_of, told_of_refusal, told_of_result
from graph.transport.request import Asked

logger = get_logger(__name__)


class Disconnected(Exception):
    """The client is gone."""


class SocketOperations:
    """What a client has under way, by the ids that it chose."""

    def __init__(
        self,
        admission: Admission,
        most: int,
        state: Mapping[str, Any],
        headers: Mapping[str, str],
        send: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        """Begin with none.

        Args:
            most: operations at the same time.
            state: of the application.
            headers: of the request that the connection began with.
            send: sends a message; raises `Disconnected`.
        """
        self._admission = admission
        self._most = most
        self._state = state
        self._headers = headers
        self._send = send
        self._operations: dict[str, asyncio.Task[None]] = {}  # by the ids that are taken
        self._tasks: set[asyncio.Task[None]] = set()  # those, and any that is about to end
        self._left: set[asyncio.Task[dict[str, Any]]] = set()  # mutations that nobody waits for any more

    def __contains__(self, id_: str) -> bool:
        """Whether the id is taken."""
        return id_ in self._operations

    async def begin(self, id_: str, asked: Asked, asker: Asker) -> None:
        """Begin one, and wait while a client that takes no answers has too many to take."""
        room = len(self._operations) + len(self._left) < self._most
        task = asyncio.create_task(self._operate(id_, self._payloads(asked, asker, room=room), asker))
        self._operations[id_] = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if len(self._tasks) >= 2 * self._most:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

    def complete(self, id_: str) -> None:
        """Give one up, if it is still under way; but a mutation is finished, as it is over HTTP."""
        if task := self._operations.pop(id_, None):
            task.cancel()

    async def end(self) -> None:
        """Give up all of them, but for mutations, and wait until that is done."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._left:
            await asyncio.wait(self._left)

    async def _operate(self, id_: str, payloads: AsyncGenerator[dict[str, Any], None], asker: Asker) -> None:
        """Tell the results of an operation."""
        with during_request(asker.request_id):
            on_behalf_of(asker.caller.subject)
            try:
                async with aclosing(payloads):
                    async for payload in payloads:
                        await self._send({"type": "next", "id": id_, "payload": payload})
                last: dict[str, Any] = {"type": "complete", "id": id_}
            except Disconnected:
                return
            except Exception as error:
                last = {"type": "error", "id": id_, "payload": told_of_refusal(error, asker.request_id)}
            del self._operations[id_]  # first, as the id can be used again as soon as that is known
            with suppress(Disconnected):
                await self._send(last)

    async def _payloads(self, asked: Asked, asker: Asker, *, room: bool) -> AsyncGenerator[dict[str, Any], None]:
        """What is told of the results. At its end, it lets go of all that was asked."""
        async with AsyncExitStack() as stack:
            async for payload in await self._begun(asked, asker, stack, room=room):
                yield payload

    async def _begun(
        self, asked: Asked, asker: Asker, stack: AsyncExitStack, *, room: bool
    ) -> AsyncIterator[dict[str, Any]]:
        """What is told of the results; it has begun."""
        with self._state["telemetry"].request(self._headers) as answer:
            try:
                if not room:
                    await self._state["rates"].spend(asker.who, 1)
                    raise TooManySubscriptions(self._most, "operations under way here")
                admitted = await self._admission.admitted(asked, asker, self._state, answer)
                if admitted.is_subscription:
                    results = await stack.enter_async_context(admitted.subscribed())
                    answer.code, answer.status = metrics.OK, 200
                    return (told_of_result(result, asker.request_id) async for result in results)
                work = _outcome(admitted)
                payload = await (self._finished(work) if admitted.is_mutation else work)
                answer.code, answer.status = code_of(payload), 200
                return _one(payload)
            except Exception as error:
                status, code = outcome_of(error)
                answer.code = error.code if isinstance(error, InvalidDocument) else code or metrics.OK
                answer.status = 400 if isinstance(error, InvalidDocument) else status
                raise

    async def _finished(self, work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
        """The outcome of a mutation, which it comes to whether or not anybody waits for it."""
        task = asyncio.create_task(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._left.add(task)
            task.add_done_callback(self._forget)
            raise

    def _forget(self, work: asyncio.Task[dict[str, Any]]) -> None:
        self._left.discard(work)
        if not work.cancelled() and (error := work.exception()):
            logger.info("A mutation that nobody waited for has failed", exc_info=error)


async def _outcome(admitted: Admitted) -> dict[str, Any]:
    return told_of_result(await admitted.result(), admitted.asker.request_id)


async def _one(payload: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    yield payload
