"""Persisted queries: a client names a document by `extensions.persistedQuery` instead of sending it.

A service has one of two kinds. Automatic: a client sends a document with its hash once, and then all
clients can name it; the memory for them is bounded. Listed: a file lists all documents, and no
others are executed, whether they are named or sent.

Source: https://www.apollographql.com/docs/apollo-server/performance/apq
"""

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
from cachetools import LRUCache

from graph.api.documents.prepared import Documents, InvalidDocument
from graph.core.errors import (
    BadRequest,
    GraphError,
    PersistedQueryNotFound,
    PersistedQueryNotInList,
    PersistedQueryNotSupported,
)
from graph.settings import Misconfigured

KEPT_BYTES = 2**20  # of all documents together, in memory
LEAST_BYTES = 2**10  # a shorter document counts as much, so there are 1,024 at most
LONGEST_KEPT = 2**14  # characters
_HASH = re.compile(r"[0-9a-f]{64}")

Extensions = Mapping[str, Any]


class Persisted(ABC):
    """The documents that clients can name."""

    def text(self, query: str | None, extensions: Extensions | None) -> str:
        """The text of the sent or named document.

        Raises:
            BadRequest: The name is not a hash, or not that of the sent document.
            PersistedQueryNotFound, PersistedQueryNotInList, PersistedQueryNotSupported: No document has the name.
        """
        named = (extensions or {}).get("persistedQuery")
        if named is None:
            return self._sent(query or "")
        if not isinstance(named, dict):
            raise BadRequest("`extensions.persistedQuery` must be an object: `version` and `sha256Hash`.")
        if named.get("version") != 1:
            raise PersistedQueryNotSupported
        name = named.get("sha256Hash")
        if not isinstance(name, str):
            raise BadRequest("`sha256Hash` must be text.")
        if query is None:
            return self._named(name)
        if _hash_of(query) != name.lower():
            raise BadRequest("provided sha does not match query")
        return self._sent(query)

    @abstractmethod
    def _sent(self, query: str) -> str:
        """Check that the sent document may be executed, and return it."""

    @abstractmethod
    def _named(self, name: str) -> str:
        """The document with this name."""

    @abstractmethod
    def remember(self, text: str, extensions: Extensions | None) -> None:
        """Keep a valid document that its client sent with its hash."""


class AutomaticDocuments(Persisted):
    """Documents that clients have sent with their hashes. The most recently used ones are kept."""

    def __init__(self) -> None:
        self._kept: LRUCache[str, str] = LRUCache(KEPT_BYTES, getsizeof=_room_of)

    def _sent(self, query: str) -> str:
        return query

    def _named(self, name: str) -> str:
        if not _HASH.fullmatch(name.lower()):
            raise BadRequest("`sha256Hash` must be 64 hexadecimal digits.")
        text = self._kept.get(name.lower())
        if text is None:
            raise PersistedQueryNotFound
        return text

    def remember(self, text: str, extensions: Extensions | None) -> None:
        if extensions and "persistedQuery" in extensions and len(text) <= LONGEST_KEPT:
            self._kept[_hash_of(text)] = text


def _room_of(text: str) -> int:
    return max(sys.getsizeof(text), LEAST_BYTES)


class ListedDocuments(Persisted):
    """The documents of a list, by their hashes and their names in the list."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._texts = frozenset(documents.values())
        self._named_texts = {_hash_of(text): text for text in self._texts} | dict(documents)

    def _sent(self, query: str) -> str:
        if query not in self._texts:
            raise PersistedQueryNotInList
        return query

    def _named(self, name: str) -> str:
        text = self._named_texts.get(name) or self._named_texts.get(name.lower())
        if text is None:
            raise PersistedQueryNotInList
        return text

    def remember(self, text: str, extensions: Extensions | None) -> None:
        pass  # the list has it already


class UnusableList(Misconfigured):
    """The file cannot be read, or is not a list of valid documents."""


def persisted(file: Path | None, documents: Documents) -> Persisted:
    """The documents of a file, or without a file those that clients send.

    Raises:
        UnusableList: The file cannot be used, or has a document that cannot be executed.
    """
    if file is None:
        return AutomaticDocuments()
    listed = listed_in(file)
    for name, text in listed.items():
        try:
            for _ in documents.of(text).operations():
                pass  # the iteration prepares each
        except InvalidDocument as error:
            raise UnusableList(f"{file} has an invalid document, {name!r}: {error.errors[0].message}") from error
        except GraphError as error:
            raise UnusableList(f"{file} has a document that cannot be executed, {name!r}: {error}") from error
    return ListedDocuments(listed)


def listed_in(file: Path) -> dict[str, str]:
    """The documents of a file by their names: Apollo's manifest, or an object `{name: document}` as Relay writes it.

    Raises:
        UnusableList: The file is neither.
    """
    try:
        content = orjson.loads(file.read_bytes())
    except OSError as error:
        raise UnusableList(f"{file} cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise UnusableList(f"{file} is not JSON: {error.msg}") from error
    try:
        if content.get("format") == "apollo-persisted-query-manifest":
            content = {operation["id"]: operation["body"] for operation in content["operations"]}
        texts: dict[str, str] = dict(content)
    except (AttributeError, KeyError, TypeError) as error:
        raise UnusableList(f"{file} is neither a manifest nor an object") from error
    for name, text in texts.items():
        if not isinstance(text, str):
            raise UnusableList(f"{file} has no text under {name!r}: give a document there")
    return texts


def _hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()
