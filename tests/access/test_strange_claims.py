"""A token that is signed and strange is refused as UNAUTHENTICATED or taken for what it is, and is never an error."""

import asyncio
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import httpx
import pytest

from graph.access.callers import Caller
from graph.access.key_set import KeySet
from graph.access.tokens import Claims, Keys, SharedSecret
from graph.core.errors import Unauthenticated
from tests.access.key_server import SigningKey, key_server
from tests.access.strange import (
    LATER,
    NO_TIMES,
    OF_EVERY_TYPE,
    PAST,
    by_key,
    by_secret,
    members,
    token,
)
from tests.bearers import SCOPES, SECRET
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import settings
from tests.subscribers import live_service, socket_to

EC = SigningKey.ec("ec")
HS256, ES256 = '{"alg": "HS256"}', '{"alg": "ES256", "kid": "ec"}'
STRICT = Claims(issuer="https://issuer.example", audience="quakegraph", leeway_s=30, scopes=SCOPES)


@dataclass(frozen=True)
class Checks:
    """The same checks by both kinds of keys."""

    secret: SharedSecret
    key_set: KeySet

    @classmethod
    async def by(cls, url: str, claims: Claims) -> "Checks":
        """Those with these claims. The key set is fetched once, since its clock stands still."""
        async with httpx.AsyncClient(trust_env=False) as http:
            key_set = KeySet(url, http, claims, clock=lambda: 0.0)
            await key_set.caller(EC.token(iss=claims.issuer or "x", aud=claims.audience or "x"))
        return cls(SharedSecret(SECRET, claims), key_set)

    async def outcome(self, body: str) -> Caller | None:
        """The outcome of a token that says this, whichever key has signed it."""
        by_set = await outcome(self.key_set, token(by_key(EC), ES256, body))
        assert await outcome(self.secret, token(by_secret(SECRET), HS256, body)) == by_set
        return by_set


async def outcome(keys: Keys, presented: str) -> Caller | None:
    """The caller; None where the token is refused. Nothing else may come of it."""
    try:
        caller = await keys.caller(presented)
    except Unauthenticated:
        return None
    assert caller.lasts_s is not None
    assert math.isfinite(caller.lasts_s)
    return caller


@pytest.fixture(scope="module")
def key_set_url() -> Iterator[str]:
    with key_server() as provider:
        provider.publish(EC.jwk())
        yield provider.url


@pytest.fixture(scope="module")
def lax(key_set_url: str) -> Checks:
    return asyncio.run(Checks.by(key_set_url, Claims(scopes=SCOPES)))


@pytest.fixture(scope="module")
def strict(key_set_url: str) -> Checks:
    return asyncio.run(Checks.by(key_set_url, STRICT))


async def test_an_invalid_time_is_refused(lax: Checks) -> None:
    for claim in ("exp", "nbf", "iat"):
        for value in NO_TIMES:
            assert await lax.outcome(members(**{claim: value})) is None, (claim, value[:100])


async def test_a_time_may_be_long_ago_have_a_fraction_and_be_far_off(lax: Checks) -> None:
    for value in PAST:
        assert await lax.outcome(members(exp=value)) is None, value
        for claim in ("nbf", "iat"):
            assert await lax.outcome(members(**{claim: value})) is not None, value
    for value in (f"{LATER}.5", f"{LATER}e0", str(2**53), "9007199254740992.0"):
        caller = await lax.outcome(members(exp=value))
        assert caller is not None
        assert caller.until == float(value) + 30
        for claim in ("nbf", "iat"):
            assert await lax.outcome(members(**{claim: value})) is None  # it is not valid yet


async def test_a_claim_of_any_type_has_a_plain_outcome(lax: Checks, strict: Checks) -> None:
    mine = {"iss": '"https://issuer.example"', "aud": '"quakegraph"'}
    for claim, value in product(("sub", "scope", "scp", "iss", "aud", "jti", "cnf", "x"), OF_EVERY_TYPE):
        by_lax = await lax.outcome(members(**{claim: value}))
        by_strict = await strict.outcome(members(**{**mine, claim: value}))
        if claim == "sub" and value not in ('"x"', '"events:read"'):
            assert by_lax is None, value[:100]
        if claim in ("iss", "aud"):
            assert by_strict is None, value[:100]
        elif claim != "jti":  # which the library checks
            assert by_strict == by_lax
        if by_lax is not None and claim in ("scope", "scp"):
            assert by_lax.scopes == ({"events:read"} if value == '"events:read"' else set()), value[:100]


async def test_a_header_of_any_type_has_a_plain_outcome(lax: Checks) -> None:
    for name in ("alg", "typ", "kid", "crit", "b64", "cty", "jwk", "jku", "x5c", "zip", "enc"):
        for value in OF_EVERY_TYPE:
            added = f', "{name}": {value}}}'
            by_set = await outcome(lax.key_set, token(by_key(EC), ES256[:-1] + added, members()))
            by_secret_ = await outcome(lax.secret, token(by_secret(SECRET), HS256[:-1] + added, members()))
            assert name != "alg" or by_set is by_secret_ is None


async def test_a_part_that_is_no_object_is_refused(lax: Checks) -> None:
    for value in (*OF_EVERY_TYPE, *NO_TIMES):
        if value[0] != "{":
            assert await lax.outcome(value) is None, value[:100]
            for keys, sign in ((lax.key_set, by_key(EC)), (lax.secret, by_secret(SECRET))):
                assert await outcome(keys, token(sign, value, members())) is None, value[:100]


# As clients meet it


async def test_malformed_claims_are_unauthenticated_over_http_and_websockets(
    tmp_path: Path, usgs: UsgsServer, key_set_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """By keys of the set; the tests above have the same outcomes by a secret."""

    def authorization(**claims: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {token(by_key(EC), ES256, members(**claims))}"}

    strange = [authorization(**{claim: value}) for claim in ("exp", "nbf", "iat") for value in NO_TIMES[::5]]
    strange += [authorization(exp=value) for value in PAST]
    with live_service(settings(tmp_path / "strange.db", usgs, jwks_url=key_set_url)) as service:
        for headers in strange:
            accept = {"Accept": "application/graphql-response+json"}
            answer = service.http.post("/graphql", json={"query": "{ __typename }"}, headers=accept | headers)
            assert answer.status_code == 401, answer.text
            assert answer.json()["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
            async with socket_to(service.url) as client:
                await client.send_message("connection_init", payload=headers)
                code, reason = await client.end()
                assert (code, reason[:38]) == (4403, "Forbidden: Your token was not accepted")
        assert caplog.records == []
        for value in (f"{LATER}.25", str(2**53)):  # a WebSocket lives as long as a token that lasts
            async with socket_to(service.url) as client:
                await client.initialise(authorization(exp=value))
                await client.quiet()
