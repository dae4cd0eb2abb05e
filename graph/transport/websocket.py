"""GraphQL over a WebSocket: the server's side of the protocol `graphql-transport-ws`, and of no older one.

    connect → connection_init, with a token perhaps → connection_ack
    subscribe → next … → complete, or error
    ping → pong, either way

Source: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
"""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import uuid4

import orjson
from starlette.types import Message, Receive, Scope, Send

from graph.access.callers import Caller
from graph.access.rate import spender
from graph.core.errors import (
    BadRequest,
    GraphError,
    KeySetUnavailable,
    TooManySubscriptions,
)
from graph.observability.logs import get_logger
from graph.transport.admission import Admission, Asker
from graph.transport.errors import told_of_refusal
from graph.transport.request import Asked, same_origin
from graph.transport.socket_operations import Disconnected, SocketOperations

SUBPROTOCOL = "graphql-transport-ws"
LONGEST_REASON = 123  # bytes, RFC 6455 section 5.5
LONGEST_ID = 256  # characters, of an operation; each of its results repeats it
EXPIRED = "The token has expired"
MESSAGES_A_TURN = 32  # of the loop; a ping takes 40 µs

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """What one connection may take."""

    operations: int  # under way at the same time
    init_s: float = 10.0  # until `connection_init`
    ping_s: float = 15.0  # of silence, after which the client is asked whether it is there, and as long to say so


class Closed(Exception):
    """The connection ends, for a reason that the protocol has a code for."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason.encode()[:LONGEST_REASON].decode(errors="ignore")


class WebSocketEndpoint:
    """The ASGI application behind the graph's path, for connections that stay."""

    def __init__(self, admission: Admission, limits: SocketLimits, origins: Collection[str]) -> None:
        """Make one.

        Args:
            origins: whose pages may connect, beside the service's own; `*` for all. No browser asks before it
                connects, as it does before it sends a request that only some may send.
        """
        self._admission = admission
        self._limits = limits
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        await receive()  # `websocket.connect`
        origin = headers.get("origin")
        if not (self._origins & {origin, "*"} or same_origin(origin, headers.get("host"))):
            await send({"type": "websocket.close"})  # which is a 403, as nothing was accepted
            return
        address = scope["client"][0] if scope.get("client") else None
        try:
            with scope["state"]["sockets"].one_of(spender(None, address)):  # who it is, is told later, or never
                await self._serve(scope, headers, receive, send)
        except TooManySubscriptions as refusal:
            body = orjson.dumps({"errors": told_of_refusal(refusal, "")})
            head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
            await send({"type": "websocket.http.response.start", "status": refusal.status, "headers": head})
            await send({"type": "websocket.http.response.body", "body": body})

    async def _serve(self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send) -> None:
        connection = _Connection(scope, headers, receive, send, self._admission, self._limits)
        try:
            await connection.accept(scope["subprotocols"])
            await connection.serve()
        except Closed as closed:
            await _close(send, closed)
        except Disconnected:
            pass
        except Exception:
            logger.exception("A connection had to end")
            await _close(send, Closed(4500, "Internal server error"))
        finally:
            await connection.end()


async def _close(send: Send, closed: Closed) -> None:
    with suppress(Disconnected):
        await _tell(send, {"type": "websocket.close", "code": closed.code, "reason": closed.reason})


async def _tell(send: Send, event: Message) -> None:
    """Send an event.

    Raises:
        Disconnected: The client has gone, or sent what the server below has ended the connection for.
    """
    try:
        await send(event)
    except (OSError, RuntimeError) as error:
        raise Disconnected from error


class _Connection:
    """One client's connection, which was accepted."""

    def __init__(
        self,
        scope: Scope,
        headers: dict[str, str],
        receive: Receive,
        send: Send,
        admission: Admission,
        limits: SocketLimits,
    ) -> None:
        self._state: dict[str, Any] = scope["state"]
        self._address: str | None = scope["client"][0] if scope.get("client") else None
        self._headers = headers
        self._receive = receive
        self._send_event = send
        self._limits = limits
        self._greeted = False  # `connection_init` came
        self._caller: Caller | None = None  # once it is acknowledged
        self._until: float | None = None  # by the loop's clock: when the caller's token ends
        self._operations = SocketOperations(admission, limits.operations, self._state, headers, self._send)

    async def accept(self, subprotocols: Collection[str]) -> None:
        """Open the connection.

        Raises:
            Closed: The client speaks none that is spoken here.
            Disconnected: It has left already.
        """
        spoken = SUBPROTOCOL if SUBPROTOCOL in subprotocols else None
        await _tell(self._send_event, {"type": "websocket.accept", "subprotocol": spoken})
        if spoken is None:
            raise Closed(4406, "Subprotocol not acceptable")

    async def serve(self) -> None:
        """Answer messages.

        Raises:
            Closed: The connection shall end.
            Disconnected: It has ended.
        """
        loop = asyncio.get_running_loop()
        expected = loop.time() + self._limits.init_s
        asked_for_sign = False
        for number in count(1):
            if number % MESSAGES_A_TURN == 0:
                await asyncio.sleep(0)  # messages that wait already are received without giving way to other work
            deadline = expected if self._until is None else min(expected, self._until)
            try:
                async with asyncio.timeout_at(deadline):
                    event = await self._receive()
            except TimeoutError:
                if self._caller is None:
                    raise Closed(4408, "Connection initialisation timeout") from None
                if deadline == self._until:  # which a loop's clock may not have reached yet: it counts milliseconds
                    raise Closed(4403, EXPIRED) from None
                if asked_for_sign:
                    raise Closed(4499, "No sign of the client") from None
                asked_for_sign, expected = True, loop.time() + self._limits.ping_s
                await self._send({"type": "ping"})
                continue
            if event["type"] == "websocket.disconnect":
                raise Disconnected
            if self._until is not None and loop.time() >= self._until:  # whoever talks on does not put it off
                raise Closed(4403, EXPIRED)
            await self._take(event.get("text"))
            if self._caller:
                asked_for_sign, expected = False, loop.time() + self._limits.ping_s

    async def end(self) -> None:
        """Give up what is under way, but for mutations."""
        await self._operations.end()

    async def _take(self, text: str | None) -> None:
        """Do what a message says."""
        message = _parsed(text)
        match message["type"]:
            case "connection_init":
                await self._greet(message.get("payload"))
            case "ping":
                try:
                    await self._send({**message, "type": "pong"})
                except TypeError as error:  # what can be read may be nested too deep to be written
                    raise Closed(4400, "Invalid message: its payload cannot be repeated") from error
            case "pong":
                pass
            case "subscribe":
                await self._subscribe(message)
            case "complete":
                self._operations.complete(_id_of(message))
            case _:
                raise Closed(4400, "Invalid message: there is no such type")

    async def _greet(self, payload: object) -> None:
        """Find out who it is."""
        if self._greeted:
            raise Closed(4429, "Too many initialisation requests")
        self._greeted = True
        if not isinstance(payload, dict | None):
            raise Closed(4400, "Invalid message: `payload` must be an object")
        given = {name.lower(): value for name, value in (payload or {}).items()}
        token = given.get("authorization", self._headers.get("authorization"))
        try:
            if not isinstance(token, str | None):
                raise BadRequest("`Authorization` must be text.")
            caller: Caller = await self._state["authenticate"](token)
        except KeySetUnavailable as error:
            raise Closed(1013, str(error)) from error  # after which clients try again
        except GraphError as error:
            raise Closed(4403, f"Forbidden: {await self._charged(error)}") from error
        self._caller = caller
        if caller.lasts_s is not None:
            self._until = asyncio.get_running_loop().time() + caller.lasts_s
        await self._send({"type": "connection_ack"})

    async def _charged(self, error: GraphError) -> GraphError:
        """What an address is told that has not named a caller, which costs it a point: so guesses have an end."""
        try:
            await self._state["rates"].spend(spender(None, self._address), 1)
        except GraphError as refusal:
            return refusal
        return error

    async def _subscribe(self, message: dict[str, Any]) -> None:
        """Begin an operation."""
        id_ = _id_of(message)
        if self._caller is None:
            raise Closed(4401, "Unauthorized: `connection_init` comes first")
        if id_ in self._operations:
            raise Closed(4409, f"Subscriber for {id_} already exists")
        try:
            asked = Asked.of(message.get("payload"))
        except BadRequest as error:
            raise Closed(4400, f"Invalid message: {error}") from error
        asker = Asker(self._caller, spender(self._caller.subject, self._address), str(uuid4()))
        await self._operations.begin(id_, asked, asker)

    async def _send(self, message: dict[str, Any]) -> None:
        await _tell(self._send_event, {"type": "websocket.send", "text": orjson.dumps(message).decode()})


def _parsed(text: str | None) -> dict[str, Any]:
    """A message."""
    try:
        message = orjson.loads(text or "")
    except orjson.JSONDecodeError as error:
        raise Closed(4400, "Invalid message: it is no JSON") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise Closed(4400, "Invalid message: it has no type")
    return message


def _id_of(message: dict[str, Any]) -> str:
    id_ = message.get("id")
    if not isinstance(id_, str) or not id_:
        raise Closed(4400, "Invalid message: it has no id")
    if len(id_) > LONGEST_ID:
        raise Closed(4400, f"Invalid message: its id is longer than {LONGEST_ID} characters")
    return id_
