"""Tokens that an identity provider signs: by the keys of its set, whichever these are at the moment."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from graph.access.callers import Caller
from graph.access.key_set import FRESH_S, GOOD_S, MOST_BYTES, PAUSE_S, KeySet
from graph.access.tokens import Claims
from graph.core.errors import KeySetUnavailable, Unauthenticated
from graph.domains.earthquakes.scopes import EVENTS_WRITE
from graph.domains.request_logs.scopes import LOGS_READ
from tests.access import strange
from tests.access.key_server import KeyServer, SigningKey, key_server
from tests.bearers import SCOPES, bearer
from tests.held_time import HeldTime
from tests.ports import reserved_port
from tests.service import running
from tests.settings import Settings
from tests.steps import done

RSA, OTHER_RSA, EC = SigningKey.rsa("rsa"), SigningKey.rsa("other"), SigningKey.ec("ec")


@pytest.fixture
def provider() -> Iterator[KeyServer]:
    with key_server() as server:
        server.publish(RSA.jwk(), EC.jwk())
        yield server


@dataclass
class Checked:
    """A key set under test."""

    keys: KeySet
    time: HeldTime
    provider: KeyServer

    async def subject(self, token: str) -> str | None:
        return (await done(self.keys.caller(token))).subject

    async def refuses(self, token: str) -> str:
        """Why it does."""
        with pytest.raises(Unauthenticated) as caught:
            await done(self.keys.caller(token))
        return str(caught.value).removeprefix("Your token was not accepted: ").removesuffix(".")


UNKNOWN = "it is signed by a key that is not known here"


@pytest.fixture
async def checked(provider: KeyServer) -> AsyncIterator[Checked]:
    time = HeldTime()
    async with httpx.AsyncClient(trust_env=False) as http:
        yield Checked(KeySet(provider.url, http, Claims(scopes=SCOPES), lambda: time.passed_s), time, provider)


async def test_a_token_is_good_that_a_key_of_the_set_has_signed(checked: Checked) -> None:
    for key in (RSA, EC):
        caller = await done(checked.keys.caller(key.token(scope="events:write logs:read")))
        assert caller == Caller("ada", frozenset({EVENTS_WRITE, LOGS_READ}))
    assert checked.provider.requests == 1


async def test_a_token_of_any_other_key_is_refused(checked: Checked) -> None:
    assert await checked.refuses(OTHER_RSA.token()) == UNKNOWN
    assert await checked.refuses(OTHER_RSA.token(key_id="rsa")) == "its signature does not hold"
    assert await checked.refuses(SigningKey.ec("x").token(key_id="ec")) == "its signature does not hold"
    assert await checked.refuses(EC.token(key_id="rsa")) == UNKNOWN
    assert await checked.refuses(EC.token(exp=0)) == "it has expired"


async def test_a_key_is_used_with_the_algorithm_of_its_type_and_no_other(checked: Checked) -> None:
    """Above all, a public key is no secret that HS256 could be checked with."""
    public = RSA.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )

    def sign(data: bytes) -> bytes:
        """As HS256 does. The library refuses to sign with a public key; an attacker's does not."""
        return hmac.new(public, data, hashlib.sha256).digest()

    claims = {"sub": "a", "exp": 2**40}
    confused = strange.token(sign, '{"alg": "HS256", "kid": "rsa"}', json.dumps(claims))
    others = [jwt.encode(claims, RSA.private, algorithm=each, headers={"kid": "rsa"}) for each in ("PS256", "RS512")]
    for token in (confused, jwt.encode(claims, "", algorithm="none"), *others):
        assert await checked.refuses(token) == UNKNOWN


async def test_a_strange_header_is_refused_or_has_no_effect(checked: Checked) -> None:
    def signed(header: str) -> str:
        return strange.token(strange.by_key(EC), header, strange.members())

    for name, value in product(("alg", "kid", "typ", "crit", "b64", "jwk"), strange.OF_EVERY_TYPE):
        with suppress(Unauthenticated):
            assert await checked.subject(signed(f'{{"alg": "ES256", "kid": "ec", "{name}": {value}}}')) == "ada"
    for value in strange.OF_EVERY_TYPE:
        if value[0] != "{":
            await checked.refuses(signed(value))


async def test_keys_of_another_use_or_type_are_ignored(checked: Checked) -> None:
    curve = SigningKey.ec("p384", "P-384")
    odd: list[dict[str, Any]] = [{}, {"kty": "RSA", "kid": "broken"}, {"kty": 7}, {"kty": None}]
    odd.append({"kty": "oct", "k": "c2VjcmV0", "kid": "oct"})
    checked.provider.publish(
        *odd, curve.jwk(alg="ES256"), curve.jwk(), OTHER_RSA.jwk(use="enc"), RSA.jwk(alg="RS512", kid="b"), EC.jwk()
    )

    assert await checked.subject(EC.token()) == "ada"
    for token in (curve.token(), OTHER_RSA.token(), RSA.token(key_id="b")):
        assert await checked.refuses(token) == UNKNOWN


async def test_a_token_that_names_no_key_is_checked_with_the_only_one_that_fits(checked: Checked) -> None:
    nameless = SigningKey.rsa(None)
    checked.provider.publish(nameless.jwk(), EC.jwk())
    assert await checked.subject(nameless.token()) == "ada"
    assert await checked.refuses(nameless.token(key_id="rsa")) == UNKNOWN

    checked.provider.publish(nameless.jwk(), RSA.jwk())
    checked.time.move(FRESH_S + 1)
    assert await checked.refuses(nameless.token()) == UNKNOWN


async def test_keys_are_fetched_again_when_a_token_names_another_one_and_after_a_while(checked: Checked) -> None:
    assert await checked.subject(RSA.token()) == "ada"
    checked.provider.publish(OTHER_RSA.jwk())
    checked.time.move(PAUSE_S)

    assert await checked.subject(OTHER_RSA.token()) == "ada"
    assert await checked.refuses(RSA.token()) == UNKNOWN  # the one that was taken away
    assert checked.provider.requests == 2

    checked.provider.publish(EC.jwk())
    checked.time.move(FRESH_S)
    assert await checked.subject(OTHER_RSA.token()) == "ada"
    assert checked.provider.requests == 2
    checked.time.move(1)
    assert await checked.refuses(OTHER_RSA.token()) == UNKNOWN
    assert checked.provider.requests == 3


async def test_callers_share_fetches_and_forged_tokens_cause_no_more_than_the_pause_allows(checked: Checked) -> None:
    for token in ("x", "a.b.c", "x" * 100_000, ""):
        await checked.refuses(token)
    assert checked.provider.requests == 0
    assert set(await asyncio.gather(*[checked.subject(RSA.token()) for _ in range(50)])) == {"ada"}
    forged = [OTHER_RSA.token(key_id=f"forged-{number}") for number in range(100)]
    for token in forged:
        assert await checked.refuses(token) == UNKNOWN
    assert checked.provider.requests == 1

    checked.time.move(PAUSE_S)
    await asyncio.gather(*map(checked.refuses, forged))
    assert checked.provider.requests == 2


RUBBISH = [(500, b"{}"), (404, b'{"keys": []}'), (204, b"")]
RUBBISH += [(200, body) for body in (b"", b"<html>", b"[]", b'{"keys": {}}', b'{"keys": [' + b" " * MOST_BYTES + b"]}")]


async def test_a_provider_that_answers_rubbish_leaves_the_last_keys_good_for_an_hour(
    checked: Checked, caplog: pytest.LogCaptureFixture
) -> None:
    await checked.subject(RSA.token())
    for status, body in RUBBISH:
        caplog.clear()
        requests = checked.provider.requests
        checked.provider.status, checked.provider.body = status, body
        checked.time.move(GOOD_S)
        assert await checked.subject(RSA.token()) == "ada"
        assert checked.provider.requests == requests + 1
        assert "The key set cannot be fetched" in caplog.text

        checked.time.move(1)
        with pytest.raises(KeySetUnavailable) as caught:
            await done(checked.keys.caller(RSA.token()))
        assert checked.provider.url in str(caught.value.detail)
        assert checked.provider.url not in str(caught.value)

        checked.provider.publish(RSA.jwk())
        checked.time.move(PAUSE_S)
        assert await checked.subject(RSA.token()) == "ada"


async def test_neither_a_redirection_nor_a_server_that_is_down_leads_to_keys(checked: Checked) -> None:
    with key_server() as elsewhere:
        elsewhere.publish(OTHER_RSA.jwk())
        checked.provider.status, checked.provider.headers = 302, {"Location": elsewhere.url}

        with pytest.raises(KeySetUnavailable):
            await done(checked.keys.caller(OTHER_RSA.token()))
        assert elsewhere.requests == 0
    with reserved_port() as port:
        checked.keys.url = f"http://127.0.0.1:{port}"
        checked.time.move(PAUSE_S)
        with pytest.raises(KeySetUnavailable):
            await done(checked.keys.caller(RSA.token()))


def test_a_service_takes_the_tokens_of_its_provider(
    tmp_path_factory: pytest.TempPathFactory, provider: KeyServer
) -> None:
    store = tmp_path_factory.mktemp("provider") / "empty.db"
    settings = Settings(
        store=f"sqlite:///{store}", jwks_url=provider.url, jwt_issuer="https://id.example", jwt_audience="quakes"
    )
    mutation = {"query": "mutation { ingestEvents(input: {events: []}) { fetched } }"}
    mine = {"iss": "https://id.example", "aud": "quakes"}
    with running(settings) as service:
        for token, status in (
            (RSA.token(**mine), 200),
            (EC.token(**mine), 200),
            (EC.token(), 401),
            (RSA.token(**mine, scope="logs:read"), 403),
            (bearer()["Authorization"].removeprefix("Bearer "), 401),
        ):
            answer = service.http.post("/graphql", json=mutation, headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == status, answer.text
    assert not store.with_name("empty.db.secret").exists()
