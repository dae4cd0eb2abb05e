"""The tags of answers to GET. An answer whose tag the client has is not computed again: it is a 304.

    versions, schema, settings, document, parameters, media type, caller, states of the feeds that the fields read → tag

Two equal tags mean equal answers. The states are read before anything is executed: what is written meanwhile makes an
answer newer than its tag, so that the next request computes it again. No state is kept in the process, which others may
be ahead of. A tag is weak, since an answer in whose time something was written may have the tag of the one before it.

There is no tag where a field declares no feeds, the answer has an error or shows its cost, a read may lag behind, or
other programs write the tables.

Source: RFC 9110, sections 8.8.3 and 13.1.2.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Self

import orjson

from graph.api.documents.prepared import Operation
from graph.settings import Settings
from graph.transport.exchange import Exchange
from graph.transport.request import Head

ITS_OWN = {"host", "port"}  # settings that differ between processes that answer the same


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the head of a GET says of its answer."""

    query_string: bytes
    media: str
    known: str  # the tags of answers that the client has

    @classmethod
    def of(cls, head: Head, media: str) -> Self:
        """Read them."""
        return cls(head.query_string, media, head.headers.get("if-none-match", ""))

    def names(self, tag: str | None) -> bool:
        """Whether the client has the answer with this tag, by the weak comparison."""
        return tag is not None and tag in self.known  # no tag has another one within, since it begins with a quote


class Validators:
    """Makes the tags of a service's answers."""

    def __init__(self, schema: str, settings: Settings, origins: Iterable[str]) -> None:
        """Take what is the same for all answers.

        Args:
            schema: the printed one.
            settings: the dump of which has no secrets.
            origins: distributions and their versions, which compute the answers.
        """
        self._base = sha256("\n".join([*origins, schema, settings.model_dump_json(exclude=ITS_OWN)]).encode())

    async def tag(
        self,
        exchange: Exchange,
        conditions: Conditions,
        text: str,
        operation: Operation,
        variables: Mapping[str, object],
    ) -> str | None:
        """The tag of the answer as of now, if there can be one."""
        feeds = operation.feeds(variables)
        states = None if feeds is None else await exchange.process.feeds.of(feeds)
        if states is None:
            return None
        caller, made = exchange.context.caller, self._base.copy()
        parts = text, conditions.query_string.decode("latin-1"), conditions.media, caller.subject
        made.update(orjson.dumps([*parts, sorted(caller.scopes), states]))
        return f'"{made.hexdigest()[:32]}"'
