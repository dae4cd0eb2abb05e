"""An identity provider: keys of its own, the set of their public halves at a URL, and tokens that it signs."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.service import serving

Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
CURVES: dict[str, ec.EllipticCurve] = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1()}


@dataclass(frozen=True)
class SigningKey:
    """A private key, and how the set names its public half."""

    private: Private
    algorithm: str
    key_id: str | None

    @classmethod
    def rsa(cls, key_id: str | None, bits: int = 2048) -> "SigningKey":
        """A new RSA key."""
        return cls(rsa.generate_private_key(public_exponent=65537, key_size=bits), "RS256", key_id)

    @classmethod
    def ec(cls, key_id: str | None, curve: str = "P-256") -> "SigningKey":
        """A new key on an elliptic curve."""
        return cls(ec.generate_private_key(CURVES[curve]), {"P-256": "ES256", "P-384": "ES384"}[curve], key_id)

    def jwk(self, **members: Any) -> dict[str, Any]:
        """The public half, with other members where they are given."""
        algorithm: Any = jwt.get_algorithm_by_name(self.algorithm)
        public = {**algorithm.to_jwk(self.private.public_key(), as_dict=True)}
        public.pop("key_ops", None)
        named = {} if self.key_id is None else {"kid": self.key_id}
        return {**public, "use": "sig", "alg": self.algorithm, **named, **members}

    def token(self, *, key_id: str | None = None, **claims: Any) -> str:
        """A token that this key signs."""
        named = key_id or self.key_id
        said = {"sub": "ada", "exp": int(time.time()) + 3600, "scope": "events:write", **claims}
        return jwt.encode(said, self.private, algorithm=self.algorithm, headers={"kid": named} if named else None)


@dataclass
class KeyServer:
    """What the provider answers at the moment, and how often it was asked."""

    url: str = ""
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    requests: int = 0

    def publish(self, *jwks: dict[str, Any]) -> None:
        """From now on, the set has these keys."""
        self.status, self.body, self.headers = 200, json.dumps({"keys": jwks}).encode(), {}


@contextmanager
def key_server() -> Iterator[KeyServer]:
    """A provider on a free port of this machine."""
    provider = KeyServer()

    async def answer(_: Request) -> Response:
        provider.requests += 1
        return Response(provider.body, provider.status, provider.headers)

    with serving(Starlette(routes=[Route("/keys", answer)])) as url:
        provider.url = f"{url}/keys"
        yield provider
