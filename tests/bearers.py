"""Tokens as an identity provider would issue them, for services that know the tests' secret."""

import time

import jwt

from graph.access.callers import Scope

SECRET = "the secret of the tests, which is longer than a hash"  # noqa: S105  # pragma: allowlist secret


def bearer(*scopes: Scope, subject: str = "tester") -> dict[str, str]:
    """The header of a caller with these scopes; with all of them where none is named."""
    now = int(time.time())
    claims = {"sub": subject, "scope": " ".join(scopes or Scope), "iat": now, "exp": now + 3600}
    return {"Authorization": f"Bearer {jwt.encode(claims, SECRET, algorithm='HS256')}"}
