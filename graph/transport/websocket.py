"""GraphQL over a WebSocket: the server's side of the protocol `graphql-transport-ws`.

    connect → connection_init, with or without a token → connection_ack
    subscribe → next … → complete, or error
    ping → pong, in both directions

Source: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
"""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any
from uuid import uuid4

import orjson
from starlette.types import Message, Receive, Scope, Send

from graph.access.callers import Caller
from graph.access.rate import spender
from graph.core.errors import BadRequest, GraphError, KeySetUnavailable, TooManySubscriptions
from graph.observability.logs import get_logger
from graph.transport.entrance import Entrance
from graph.transport.errors import format_refusal
from graph.transport.exchange import Exchange, process_of
from graph.transport.json_values import parsed_json
from graph.transport.origins import OriginRefused, Refused, allows
from graph.transport.request import MOST_VALUES, GraphQLRequest, same_origin
from graph.transport.socket_operations import Disconnected, SocketOperations

SUBPROTOCOL = "graphql-transport-ws"
LONGEST_REASON = 123  # bytes, RFC 6455 section 5.5
LONGEST_ID = 256  # characters, of an operation; each of its results repeats it
EXPIRED = "The token has expired"
MESSAGES_PER_ITERATION = 32  # of the event loop; a ping takes 40 µs

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """What one connection may take."""

    operations: int  # in progress at the same time
    init_s: float = 10.0  # until `connection_init`
    ping_s: float = 15.0  # of silence before a ping, and again of waiting for the answer


class Closed(Exception):
    """The connection must be closed, with a code of the protocol."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason.encode()[:LONGEST_REASON].decode(errors="ignore")


class WebSocketEndpoint:
    """The ASGI application behind the graph's path, for WebSockets."""

    def __init__(self, entrance: Entrance, limits: SocketLimits, origins: Collection[str]) -> None:
        """Make the endpoint.

        Args:
            origins: other origins whose web pages may connect, as the setting names them. A browser sends no preflight
                before it opens a WebSocket, so the server must check the origin.
        """
        self._entrance = entrance
        self._limits = limits
        self._origins = frozenset(origins)
        self._refused = Refused()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        await receive()  # `websocket.connect`
        origin = headers.get("origin")
        if not (allows(self._origins, origin) or same_origin(origin, headers.get("host"))):
            await _refuse(send, OriginRefused(self._refused.origin(origin)))
            return
        address = scope["client"][0] if scope.get("client") else None
        try:
            # The token may come later, or never.
            with process_of(scope).sockets.counted(spender(None, address), "connections"):
                await self._serve(scope, headers, address, receive, send)
        except TooManySubscriptions as refusal:
            await _refuse(send, refusal)

    async def _serve(
        self, scope: Scope, headers: dict[str, str], address: str | None, receive: Receive, send: Send
    ) -> None:
        new_exchange = partial(Exchange, process_of(scope), headers, address=address)
        connection = _ClientConnection(new_exchange, headers, receive, send, self._entrance, self._limits)
        try:
            await connection.accept(scope["subprotocols"])
            await connection.serve()
        except Closed as closed:
            await _close(send, closed)
        except Disconnected:
            pass
        except Exception:
            logger.exception("A WebSocket was closed because of an error")
            await _close(send, Closed(4500, "Internal server error"))
        finally:
            await connection.end()


async def _refuse(send: Send, refusal: GraphError) -> None:
    """Answer a connection that is not accepted."""
    body = orjson.dumps({"errors": format_refusal(refusal, "")})
    head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "websocket.http.response.start", "status": refusal.status, "headers": head})
    await send({"type": "websocket.http.response.body", "body": body})


async def _close(send: Send, closed: Closed) -> None:
    with suppress(Disconnected):
        await _send(send, {"type": "websocket.close", "code": closed.code, "reason": closed.reason})


async def _send(send: Send, event: Message) -> None:
    """Send an event.

    Raises:
        Disconnected: The client has disconnected, or the server closed the connection after a bad frame.
    """
    try:
        await send(event)
    except (OSError, RuntimeError) as error:
        raise Disconnected from error


class _ClientConnection:
    """One client's connection."""

    def __init__(
        self,
        new_exchange: "partial[Exchange]",
        headers: dict[str, str],
        receive: Receive,
        send: Send,
        entrance: Entrance,
        limits: SocketLimits,
    ) -> None:
        self._new_exchange = new_exchange
        self._headers = headers
        self._receive = receive
        self._send_event = send
        self._limits = limits
        self._is_initialised = False  # whether `connection_init` has arrived
        self._caller: Caller | None = None  # set once the connection is acknowledged
        self._expires_at: float | None = None  # when the caller's token expires, by the loop's clock
        self._operations = SocketOperations(entrance, limits.operations, self._send)

    async def accept(self, subprotocols: Collection[str]) -> None:
        """Open the connection.

        Raises:
            Closed: The client does not offer the protocol.
            Disconnected: The client has disconnected already.
        """
        accepted = SUBPROTOCOL if SUBPROTOCOL in subprotocols else None
        await _send(self._send_event, {"type": "websocket.accept", "subprotocol": accepted})
        if accepted is None:
            raise Closed(4406, "Subprotocol not acceptable")

    async def serve(self) -> None:
        """Answer messages until the connection ends.

        Raises:
            Closed: The connection must be closed.
            Disconnected: The client has disconnected.
        """
        loop = asyncio.get_running_loop()
        expected = loop.time() + self._limits.init_s
        is_pinged = False
        for number in count(1):
            if number % MESSAGES_PER_ITERATION == 0:
                await asyncio.sleep(0)  # receiving a message that is there already does not give way to other work
            deadline = expected if self._expires_at is None else min(expected, self._expires_at)
            try:
                async with asyncio.timeout_at(deadline):
                    event = await self._receive()
            except TimeoutError:
                if self._caller is None:
                    raise Closed(4408, "Connection initialisation timeout") from None
                if deadline == self._expires_at:  # the loop's timers may fire up to a millisecond early
                    raise Closed(4403, EXPIRED) from None
                if is_pinged:
                    raise Closed(4499, "No sign of the client") from None
                is_pinged, expected = True, loop.time() + self._limits.ping_s
                await self._send({"type": "ping"})
                continue
            if event["type"] == "websocket.disconnect":
                raise Disconnected
            if self._expires_at is not None and loop.time() >= self._expires_at:  # messages do not put this off
                raise Closed(4403, EXPIRED)
            await self._take(event.get("text"))
            if self._caller:
                is_pinged, expected = False, loop.time() + self._limits.ping_s

    async def end(self) -> None:
        """Cancel all operations in progress, and finish the mutations."""
        await self._operations.end()

    async def _take(self, text: str | None) -> None:
        """Handle a message."""
        message, values = await _parsed(text)
        match message["type"]:
            case "connection_init":
                await self._initialise(message.get("payload"))
            case "ping":
                try:
                    await self._send({**message, "type": "pong"})
                except TypeError as error:  # JSON that can be read may be nested too deep to be written
                    raise Closed(4400, "Invalid message: its payload cannot be repeated") from error
            case "pong":
                pass
            case "subscribe":
                await self._subscribe(message, values)
            case "complete":
                self._operations.complete(_id_of(message))
            case _:
                raise Closed(4400, "Invalid message: there is no such type")

    async def _initialise(self, payload: object) -> None:
        """Authenticate the caller."""
        if self._is_initialised:
            raise Closed(4429, "Too many initialisation requests")
        self._is_initialised = True
        if not isinstance(payload, dict | None):
            raise Closed(4400, "Invalid message: `payload` must be an object")
        given = {name.lower(): value for name, value in (payload or {}).items()}
        token = given.get("authorization", self._headers.get("authorization"))
        exchange = self._new_exchange("")
        try:
            if not isinstance(token, str | None):
                raise BadRequest("`Authorization` must be text.")
            caller = exchange.process.authenticate(token)
            if not isinstance(caller, Caller):
                caller = await caller
        except KeySetUnavailable as error:
            raise Closed(1013, str(error)) from error  # clients try again after this code
        except GraphError as error:  # a point for each limits guesses
            raise Closed(4403, f"Forbidden: {await exchange.charged(error)}") from error
        self._caller = caller
        if caller.lasts_s is not None:
            self._expires_at = asyncio.get_running_loop().time() + caller.lasts_s
        await self._send({"type": "connection_ack"})

    async def _subscribe(self, message: dict[str, Any], values: int) -> None:
        """Begin the operation of a `subscribe` message."""
        id_ = _id_of(message)
        if self._caller is None:
            raise Closed(4401, "Unauthorized: `connection_init` comes first")
        if id_ in self._operations:
            raise Closed(4409, f"Subscriber for {id_} already exists")
        try:
            request = GraphQLRequest.of(message.get("payload"), values)
        except BadRequest as error:
            raise Closed(4400, f"Invalid message: {error}") from error
        await self._operations.begin(id_, request, self._new_exchange(str(uuid4()), caller=self._caller))

    async def _send(self, message: dict[str, Any]) -> None:
        await _send(self._send_event, {"type": "websocket.send", "text": orjson.dumps(message).decode()})


async def _parsed(text: str | None) -> tuple[dict[str, Any], int]:
    """A message, and the most values that it has."""
    try:
        message, values = await parsed_json((text or "").encode(errors="surrogatepass"), "it", MOST_VALUES)
    except BadRequest as error:
        raise Closed(4400, f"Invalid message: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise Closed(4400, "Invalid message: it has no type")
    return message, values


def _id_of(message: dict[str, Any]) -> str:
    id_ = message.get("id")
    if not isinstance(id_, str) or not id_:
        raise Closed(4400, "Invalid message: it has no id")
    if len(id_) > LONGEST_ID:
        raise Closed(4400, f"Invalid message: its id is longer than {LONGEST_ID} characters")
    return id_
