"""Tokens for services that use the tests' secret, as an identity provider would issue them."""

import time

import jwt

from graph.access.callers import Scope
from graph.domain import scopes_of
from graph.domains import DOMAINS

SECRET = "the secret of the tests, which is longer than a hash"  # noqa: S105  # pragma: allowlist secret


SCOPES = scopes_of(DOMAINS)


def bearer(*scopes: Scope, subject: str = "tester") -> dict[str, str]:
    """The header of a caller with these scopes; without arguments, with all scopes."""
    now = int(time.time())
    claims = {"sub": subject, "scope": " ".join(scopes or SCOPES), "iat": now, "exp": now + 3600}
    return {"Authorization": f"Bearer {jwt.encode(claims, SECRET, algorithm='HS256')}"}
