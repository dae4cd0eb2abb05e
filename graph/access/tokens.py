"""Tokens: what they say, and who may have signed them.

A token is a JWT. Which algorithm checks it is decided by the keys that this service was given,
never by the token alone: a shared secret takes HS256 and nothing else, a key of a key set
(`key_set`) takes the one algorithm of its own type. So there is no `none`, and no public key can
pass for a secret.

Source: RFC 7519 (JWT), RFC 8725 (its best current practices), RFC 8693 section 4.2 (`scope`).
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from graph.access.callers import Caller, Scope
from graph.core.errors import Unauthenticated

LONGEST_TOKEN = 8192  # characters
LONGEST_SUBJECT = 256  # characters
LATEST_S = 2**53  # epoch seconds; no number of JSON is exact beyond it, RFC 8259 section 6
TIMES = ("exp", "nbf", "iat")

UNREADABLE = (jwt.InvalidTokenError, TypeError, ValueError, OverflowError, RecursionError)
"""What the library raises of a token. Not all of its releases check the type of a claim before they use it."""

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
"""What was wrong, for the client. The first that fits is told; anything else is no token at all."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What every token must say beside its subject and its end, and the scopes that count."""

    issuer: str | None = None
    audience: str | None = None
    leeway_s: int = 30  # that the issuer's clock may be off
    scopes: tuple[Scope, ...] = ()  # that there are; what else a token names is ignored


class Keys(ABC):
    """The keys that tokens are checked with."""

    @abstractmethod
    async def caller(self, token: str) -> Caller:
        """Who presents the token, with the scopes that it names.

        Raises:
            Unauthenticated: The token does not hold.
            KeySetUnavailable: It cannot be checked.
        """


class SharedSecret(Keys):
    """One secret that signs and checks, by HS256."""

    ALGORITHM = "HS256"

    def __init__(self, secret: str, claims: Claims) -> None:
        self._secret = secret
        self._claims = claims

    async def caller(self, token: str) -> Caller:
        check_length(token)
        return checked(token, self._secret, self.ALGORITHM, self._claims)

    def issue(self, subject: str, scopes: Collection[Scope], expires_s: int) -> str:
        """A token for a subject, which holds for so many seconds from now."""
        now = int(time.time())
        claims: dict[str, Any] = {"sub": subject, "scope": " ".join(scopes), "iat": now, "exp": now + expires_s}
        if self._claims.issuer:
            claims["iss"] = self._claims.issuer
        if self._claims.audience:
            claims["aud"] = self._claims.audience
        return jwt.encode(claims, self._secret, algorithm=self.ALGORITHM)


def check_length(token: str) -> None:
    """Refuse what is too long to be worth a look."""
    if len(token) > LONGEST_TOKEN:
        raise Unauthenticated(f"Your token was not accepted: it is longer than {LONGEST_TOKEN:,} characters.")


def checked(token: str, key: Any, algorithm: str, claims: Claims) -> Caller:
    """The caller whose token was signed by this key with this algorithm."""
    required = ["exp", "sub", *(["iss"] if claims.issuer else []), *(["aud"] if claims.audience else [])]
    try:
        said = jwt.decode(
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
    if not all(_is_time(said[name]) for name in TIMES if name in said):
        raise Unauthenticated("Your token was not accepted: its `exp`, `nbf` or `iat` is not a time in seconds.")
    subject = said["sub"]
    if not 0 < len(subject) <= LONGEST_SUBJECT or not subject.isprintable():
        raise Unauthenticated(
            f"Your token was not accepted: its `sub` must be 1 to {LONGEST_SUBJECT} characters that can be printed."
        )
    return Caller(subject, _scopes(said, claims.scopes), until=said["exp"] + claims.leeway_s)


def _is_time(value: object) -> bool:
    """Whether a claim is a `NumericDate` of RFC 7519. The library takes text with digits for one, and `true`."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LATEST_S


def refused(error: Exception) -> Unauthenticated:
    """What a client is told of a token that does not hold."""
    reason = next((text for kind, text in REASONS.items() if isinstance(error, kind)), "it cannot be read")
    return Unauthenticated(f"Your token was not accepted: {reason}.")


def _scopes(said: Mapping[str, Any], scopes: Collection[Scope]) -> frozenset[Scope]:
    """The scopes that a token names and that there are: in `scope`, or in `scp` as some issuers have it."""
    named = said.get("scope", said.get("scp", ""))
    words = named.split() if isinstance(named, str) else named if isinstance(named, list) else []
    known = {str(scope): scope for scope in scopes}
    return frozenset(known[word] for word in words if isinstance(word, str) and word in known)
