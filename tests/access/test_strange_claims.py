"""A token that is signed and strange is refused as UNAUTHENTICATED or taken for what it is, and is never an error."""

import math
from itertools import product
from pathlib import Path

from graph.access.callers import Caller
from graph.access.tokens import Claims, SharedSecret
from graph.core.errors import Unauthenticated
from tests.access.strange import LATER, NO_TIMES, OF_EVERY_TYPE, PAST, by_secret, members, token
from tests.bearers import SCOPES, SECRET
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import settings
from tests.subscribers import live_service, socket_to

HS256 = '{"alg": "HS256"}'
LAX = SharedSecret(SECRET, Claims(scopes=SCOPES))
STRICT = SharedSecret(
    SECRET, Claims(issuer="https://issuer.example", audience="quakegraph", leeway_s=30, scopes=SCOPES)
)


def outcome(body: str, *, keys: SharedSecret = LAX, header: str = HS256) -> Caller | None:
    """The caller of a signed token that says this; None where it is refused. Nothing else may come of it."""
    try:
        caller = keys.caller(token(by_secret(SECRET), header, body))
    except Unauthenticated:
        return None
    assert caller.lasts_s is not None
    assert math.isfinite(caller.lasts_s)
    return caller


def test_an_invalid_time_is_refused() -> None:
    for claim in ("exp", "nbf", "iat"):
        for value in NO_TIMES:
            assert outcome(members(**{claim: value})) is None, (claim, value[:100])


def test_a_time_may_be_long_ago_have_a_fraction_and_be_far_off() -> None:
    for value in PAST:
        assert outcome(members(exp=value)) is None, value
        for claim in ("nbf", "iat"):
            assert outcome(members(**{claim: value})) is not None, value
    for value in (f"{LATER}.5", f"{LATER}e0", str(2**53), "9007199254740992.0"):
        caller = outcome(members(exp=value))
        assert caller is not None
        assert caller.until == float(value) + 30
        for claim in ("nbf", "iat"):
            assert outcome(members(**{claim: value})) is None  # it is not valid yet


def test_a_claim_of_any_type_has_a_plain_outcome() -> None:
    mine = {"iss": '"https://issuer.example"', "aud": '"quakegraph"'}
    for claim, value in product(("sub", "scope", "scp", "iss", "aud", "jti", "cnf", "x"), OF_EVERY_TYPE):
        by_lax = outcome(members(**{claim: value}))
        by_strict = outcome(members(**{**mine, claim: value}), keys=STRICT)
        if claim == "sub" and value not in ('"x"', '"events:read"'):
            assert by_lax is None, value[:100]
        if claim in ("iss", "aud"):
            assert by_strict is None, value[:100]
        elif claim != "jti":  # which the library checks
            assert by_strict == by_lax
        if by_lax is not None and claim in ("scope", "scp"):
            assert by_lax.scopes == ({"events:read"} if value == '"events:read"' else set()), value[:100]


def test_a_header_of_any_type_has_a_plain_outcome() -> None:
    for name in ("alg", "typ", "kid", "crit", "b64", "cty", "jwk", "jku", "x5c", "zip", "enc"):
        for value in OF_EVERY_TYPE:
            found = outcome(members(), header=f'{HS256[:-1]}, "{name}": {value}}}')
            assert name != "alg" or found is None


def test_a_part_that_is_no_object_is_refused() -> None:
    for value in (*OF_EVERY_TYPE, *NO_TIMES):
        if value[0] != "{":
            assert outcome(value) is None, value[:100]
            assert outcome(members(), header=value) is None, value[:100]


async def test_a_websocket_lives_as_long_as_a_token_that_lasts(tmp_path: Path, usgs: UsgsServer) -> None:
    with live_service(settings(tmp_path / "strange.db", usgs)) as service:
        for value in (f"{LATER}.25", str(2**53)):
            async with socket_to(service.url) as client:
                lasting = token(by_secret(SECRET), HS256, members(exp=value))
                await client.initialise({"Authorization": f"Bearer {lasting}"})
                await client.quiet()
