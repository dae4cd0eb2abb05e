"""Checks tokens of an identity provider against its key set (JWKS), which may change at any time.

The set is fetched when it is first needed, again after a while, and again when a token names an
unknown key. A pause between two fetches limits how often unknown keys cause one. While the provider
does not answer, the last known keys stay valid for an hour.

Source: RFC 7517.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import jwt
import orjson

from graph.access.callers import Caller
from graph.access.tokens import UNREADABLE, Claims, Tokens, check_length, refused
from graph.core.errors import KeySetUnavailable, Unauthenticated
from graph.observability.logs import get_logger

FRESH_S = 300.0  # after this time the set is fetched again
GOOD_S = 3600.0  # the longest that keys are used while they cannot be fetched again
PAUSE_S = 10.0  # the shortest pause between two fetches
TIMEOUT_S = 5.0
MOST_BYTES = 256 * 1024  # a key takes about 500
ALGORITHMS = {"RSA": "RS256", "EC": "ES256"}
"""Type of a key → the algorithm that it checks with."""
ES256_CURVE = "P-256"

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Key:
    key_id: str | None
    algorithm: str
    key: Any


@dataclass(slots=True)
class KeySet:
    """The public keys at a URL."""

    url: str
    http: httpx.AsyncClient
    claims: Claims
    clock: Callable[[], float] = time.monotonic  # seconds
    _keys: list[_Key] = field(default_factory=list)
    _fetched_at: float | None = None  # when the keys were last fetched
    _tried_at: float | None = None
    _failure: str = ""
    _fetching: asyncio.Lock = field(default_factory=asyncio.Lock)
    _tokens: Tokens = field(init=False)

    def __post_init__(self) -> None:
        self._tokens = Tokens(self.claims)

    def caller(self, token: str) -> Caller | Awaitable[Caller]:
        """The caller whom a token authenticates, with its scopes, or what to wait for."""
        check_length(token)
        try:
            header = jwt.get_unverified_header(token)
        except UNREADABLE as error:
            raise refused(error) from error
        key_id, algorithm = header.get("kid"), header.get("alg")
        if self._age() <= FRESH_S and len(found := self._fitting(key_id, algorithm)) == 1:
            return self._tokens.caller(token, found[0].key, found[0].algorithm)
        return self._looked_up(token, key_id, algorithm)

    async def _looked_up(self, token: str, key_id: object, algorithm: object) -> Caller:
        key = await self._key(key_id, algorithm)
        return self._tokens.caller(token, key.key, key.algorithm)

    async def _key(self, key_id: object, algorithm: object) -> _Key:
        """The key with this id, or without an id the only key that fits."""
        if self._age() > FRESH_S and not self._fetching.locked():  # only one caller waits for fresh keys
            await self._fetch()
        found = self._fitting(key_id, algorithm)
        if not found:
            await self._fetch()
            found = self._fitting(key_id, algorithm)
        if self._age() > GOOD_S:
            raise KeySetUnavailable(f"no keys from {self.url}: {self._failure}")
        if len(found) != 1:
            raise Unauthenticated("Your token was not accepted: it is signed by a key that is not known here.")
        return found[0]

    def _fitting(self, key_id: object, algorithm: object) -> list[_Key]:
        return [key for key in self._keys if key.algorithm == algorithm and (key_id is None or key.key_id == key_id)]

    def _age(self) -> float:
        return float("inf") if self._fetched_at is None else self.clock() - self._fetched_at

    async def _fetch(self) -> None:
        """Fetch the set, unless that was just tried. Callers at the same time share one fetch."""
        async with self._fetching:
            if self._tried_at is not None and self.clock() - self._tried_at < PAUSE_S:
                return
            self._tried_at = self.clock()
            try:
                async with asyncio.timeout(TIMEOUT_S):
                    self._keys = _keys_of(await self._read())
                self._fetched_at = self._tried_at
            except (httpx.HTTPError, TimeoutError, ValueError) as error:
                self._failure = f"{type(error).__name__}: {error}"
                logger.warning("The key set cannot be fetched", url=self.url, cause=self._failure)

    async def _read(self) -> bytes:
        async with self.http.stream("GET", self.url, headers={"Accept": "application/json"}) as answer:
            if answer.status_code != httpx.codes.OK:  # a redirect too, since it would name another provider
                raise ValueError(f"status {answer.status_code}")
            body = bytearray()
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise ValueError(f"more than {MOST_BYTES:,} bytes")
            return bytes(body)


def _keys_of(body: bytes) -> list[_Key]:
    """The keys of a set with a supported algorithm. Raises ValueError where it is no set."""
    key_set = orjson.loads(body)
    if not isinstance(key_set, dict) or not isinstance(key_set.get("keys"), list):
        raise ValueError("no `keys`")
    keys = []
    for jwk in key_set["keys"]:
        algorithm = ALGORITHMS.get(str(jwk.get("kty"))) if isinstance(jwk, dict) else None
        if algorithm is None or jwk.get("use", "sig") != "sig" or jwk.get("alg", algorithm) != algorithm:
            continue
        if jwk.get("crv", ES256_CURVE) != ES256_CURVE:
            continue
        try:
            keys.append(_Key(jwk.get("kid"), algorithm, jwt.PyJWK(jwk, algorithm).key))
        except jwt.PyJWTError:
            continue  # an unsupported curve or shape; the other keys are still used
    return keys
