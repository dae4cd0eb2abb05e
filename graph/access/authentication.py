"""From the header of a request to its caller."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import httpx

from graph.access.callers import Caller, Scope
from graph.access.key_set import KeySet
from graph.access.own_secret import own_secret
from graph.access.tokens import Claims, Keys, SharedSecret
from graph.core.errors import Unauthenticated
from graph.settings import Settings
from graph.store.location import StoreLocation

Authenticate = Callable[[str | None], Awaitable[Caller]]
"""The value of `Authorization`, or None → the caller. Raises as `Keys.caller` does."""


def authentication(settings: Settings, http: httpx.AsyncClient) -> Authenticate:
    """How the callers of a service are recognised.

    Raises:
        UnusableSecret: The service's own secret cannot be trusted.
    """
    keys: Keys = KeySet(settings.jwks_url, http, claims_of(settings)) if settings.jwks_url else shared_secret(settings)
    anonymous = Caller(None, frozenset({Scope.EVENTS_READ} if settings.public_read else ()))
    return partial(_caller, keys, anonymous)


def shared_secret(settings: Settings) -> SharedSecret:
    """The secret that is configured, or the service's own.

    Raises:
        UnusableSecret: The service's own cannot be trusted.
    """
    configured = settings.jwt_secret
    secret = configured.get_secret_value() if configured else own_secret(StoreLocation.of(settings.store))
    return SharedSecret(secret, claims_of(settings))


def claims_of(settings: Settings) -> Claims:
    """What tokens must say."""
    return Claims(settings.jwt_issuer, settings.jwt_audience, settings.jwt_leeway)


async def _caller(keys: Keys, anonymous: Caller, header: str | None) -> Caller:
    if header is None:
        return anonymous
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("`Authorization` must be `Bearer`, a space, and your token.")
    known = await keys.caller(token.strip())
    return replace(known, scopes=known.scopes | anonymous.scopes)
