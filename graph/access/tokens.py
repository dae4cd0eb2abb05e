"""Tokens: their claims and their signatures.

A token is a JWT. The configured keys decide which algorithm checks it, never the token alone: a
shared secret accepts only HS256, and a key of a key set (`key_set`) accepts only the algorithm of its
type. So `none` is never accepted, and a public key cannot pass for a secret.

Source: RFC 7519 (JWT), RFC 8725 (its best current practices), RFC 8693 section 4.2 (`scope`).
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from cachetools import LRUCache

from graph.access.callers import Caller, Scope
from graph.core.errors import Unauthenticated
from graph.core.names import is_line

LONGEST_TOKEN = 8192  # characters
LONGEST_SUBJECT = 256  # characters
REMEMBERED = 1000  # tokens
LATEST_S = 2**53  # epoch seconds; no number of JSON is exact beyond it, RFC 8259 section 6
TIMES = ("exp", "nbf", "iat")

UNREADABLE = (jwt.InvalidTokenError, TypeError, ValueError, OverflowError, RecursionError)
"""What the library raises for a bad token. Some of its releases use a claim before they check its type."""

REASONS: dict[type[jwt.InvalidTokenError], str] = {
    jwt.ExpiredSignatureError: "it has expired",
    jwt.ImmatureSignatureError: "it is not valid yet",
    jwt.InvalidIssuedAtError: "it is not valid yet",
    jwt.InvalidAudienceError: "it is for another audience",
    jwt.InvalidIssuerError: "it is from another issuer",
    jwt.MissingRequiredClaimError: "it lacks `exp`, `sub`, `aud` or `iss`",
    jwt.exceptions.InvalidSubjectError: "its `sub` is not text",
    jwt.InvalidAlgorithmError: "it is signed by an algorithm that is not accepted here",
    jwt.InvalidSignatureError: "its signature does not hold",
}
"""The reasons that a client sees; the first that fits is used. Any other error means that it is no token."""


@dataclass(frozen=True, slots=True)
class Claims:
    """The required claims of a token beside its subject and expiry, and the known scopes."""

    issuer: str | None = None
    audience: str | None = None
    leeway_s: int = 30  # the most that the issuer's clock may differ
    scopes: tuple[Scope, ...] = ()  # the known ones; a token's other scopes are ignored
    public: frozenset[Scope] = frozenset()  # those that every caller has


class SharedSecret:
    """One secret that signs and checks tokens with HS256."""

    ALGORITHM = "HS256"

    def __init__(self, secret: str, claims: Claims) -> None:
        self._secret = secret
        self._claims = claims
        self._tokens = Tokens(claims)

    def caller(self, token: str) -> Caller:
        """The caller whom a token authenticates, with its scopes."""
        check_length(token)
        return self._tokens.caller(token, self._secret, self.ALGORITHM)

    def issue(self, subject: str, scopes: Collection[Scope], expires_s: int) -> str:
        """A token for a subject that expires in so many seconds."""
        now = int(time.time())
        claims: dict[str, Any] = {"sub": subject, "scope": " ".join(scopes), "iat": now, "exp": now + expires_s}
        if self._claims.issuer:
            claims["iss"] = self._claims.issuer
        if self._claims.audience:
            claims["aud"] = self._claims.audience
        return jwt.encode(claims, self._secret, algorithm=self.ALGORITHM)


class Tokens:
    """Checks tokens, and remembers good ones: a client sends the same one with each of its requests."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self._good: LRUCache[str, tuple[Any, Caller]] = LRUCache(REMEMBERED)  # with the key that has checked it

    def caller(self, token: str, key: Any, algorithm: str) -> Caller:
        """The caller of a token, which this key and algorithm check.

        Raises:
            Unauthenticated: The token is not valid, or has expired since.
        """
        good_by, caller = self._good.get(token, (None, None))
        if caller is None or good_by is not key or caller.until is None or caller.until <= time.time():
            caller = checked(token, key, algorithm, self._claims)
            self._good[token] = key, caller
        return caller


def check_length(token: str) -> None:
    """Refuse a token that is too long, before it is parsed."""
    if len(token) > LONGEST_TOKEN:
        raise Unauthenticated(f"Your token was not accepted: it is longer than {LONGEST_TOKEN:,} characters.")


def checked(token: str, key: Any, algorithm: str, claims: Claims) -> Caller:
    """Check a token with this key and algorithm, and return its caller."""
    required = ["exp", "sub", *(["iss"] if claims.issuer else []), *(["aud"] if claims.audience else [])]
    try:
        decoded = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            issuer=claims.issuer,
            audience=claims.audience,
            leeway=claims.leeway_s,
            options={"require": required, "verify_aud": claims.audience is not None},
        )
    except UNREADABLE as error:
        raise refused(error) from error
    if not all(_is_time(decoded[name]) for name in TIMES if name in decoded):
        raise Unauthenticated("Your token was not accepted: its `exp`, `nbf` or `iat` is not a time in seconds.")
    subject = decoded["sub"]
    if not 0 < len(subject) <= LONGEST_SUBJECT or not is_line(subject):
        raise Unauthenticated(
            f"Your token was not accepted: its `sub` must be 1 to {LONGEST_SUBJECT} characters, "
            "without control characters."
        )
    return Caller(subject, _scopes(decoded, claims.scopes) | claims.public, until=decoded["exp"] + claims.leeway_s)


def _is_time(value: object) -> bool:
    """Whether a claim is a `NumericDate` of RFC 7519. The library also accepts text with digits, and `true`."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LATEST_S


def refused(error: Exception) -> Unauthenticated:
    """The error for a token that is not valid."""
    reason = next((text for kind, text in REASONS.items() if isinstance(error, kind)), "it cannot be read")
    return Unauthenticated(f"Your token was not accepted: {reason}.")


def _scopes(decoded: Mapping[str, Any], scopes: Collection[Scope]) -> frozenset[Scope]:
    """The known scopes that a token names: in `scope`, or in `scp` as some issuers do."""
    named = decoded.get("scope", decoded.get("scp", ""))
    names = named.split() if isinstance(named, str) else named if isinstance(named, list) else []
    known = {str(scope): scope for scope in scopes}
    return frozenset(known[name] for name in names if isinstance(name, str) and name in known)
