"""Authenticates the caller of a request by its `Authorization` header."""

from collections.abc import Awaitable, Callable, Collection
from functools import partial

import httpx

from graph.access.callers import Caller, Scope
from graph.access.key_set import KeySet
from graph.access.own_secret import own_secret
from graph.access.tokens import Claims, SharedSecret
from graph.core.errors import Unauthenticated
from graph.settings import Settings
from graph.store.location import StoreLocation

Check = Callable[[str], Caller | Awaitable[Caller]]
"""A token → the caller whom it authenticates, or what to wait for.

Raises `Unauthenticated` if the token is not valid, and `KeySetUnavailable` if it cannot be checked.
"""

Authenticate = Callable[[str | None], Caller | Awaitable[Caller]]
"""The value of `Authorization`, or None → the caller, or what to wait for. Raises as `Check` does."""


def authentication(settings: Settings, scopes: Collection[Scope], http: httpx.AsyncClient) -> Authenticate:
    """A function that authenticates callers, by the settings.

    Raises:
        UnusableSecret: The service's own secret cannot be trusted.
    """
    claims = _claims(settings, scopes)
    keys = KeySet(settings.jwks_url, http, claims) if settings.jwks_url else shared_secret(settings, scopes)
    return partial(_caller, keys.caller, Caller(None, claims.public))


def shared_secret(settings: Settings, scopes: Collection[Scope] = ()) -> SharedSecret:
    """What signs and checks tokens by the configured secret, or the service's own.

    Args:
        scopes: the known scopes; a token's other scopes are ignored.

    Raises:
        UnusableSecret: The service's own secret cannot be trusted.
    """
    configured = settings.jwt_secret
    secret = configured.get_secret_value() if configured else own_secret(StoreLocation.of(settings.store))
    return SharedSecret(secret, _claims(settings, scopes))


def _claims(settings: Settings, scopes: Collection[Scope]) -> Claims:
    public = frozenset(scope for scope in scopes if scope.public and settings.public_read)
    return Claims(settings.jwt_issuer, settings.jwt_audience, settings.jwt_leeway, tuple(scopes), public)


def _caller(check: Check, anonymous: Caller, header: str | None) -> Caller | Awaitable[Caller]:
    if header is None:
        return anonymous
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("`Authorization` must be `Bearer`, a space, and your token.")
    return check(token.strip())
