"""Tokens of a shared secret: whatever is not signed by it, for this service and for now, is refused with a reason."""

import time
from base64 import urlsafe_b64encode
from typing import Any

import jwt
import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from graph.access.callers import Caller, Scope
from graph.access.tokens import LONGEST_TOKEN, REMEMBERED, Claims, SharedSecret, Tokens
from graph.core.errors import Unauthenticated
from graph.domains.earthquakes.scopes import EVENTS_WRITE
from graph.domains.request_logs.scopes import LOGS_READ

SECRET = "a secret that is as long as a hash, and longer"  # noqa: S105  # pragma: allowlist secret
SCOPES = (EVENTS_WRITE, LOGS_READ)
KEYS = SharedSecret(SECRET, Claims(scopes=SCOPES))
STRICT = SharedSecret(
    SECRET, Claims(issuer="https://issuer.example", audience="quakegraph", leeway_s=30, scopes=SCOPES)
)
HOUR = 3600


def now() -> int:
    return int(time.time())


def signed(secret: Any = SECRET, algorithm: str = "HS256", headers: dict[str, Any] | None = None, **claims: Any) -> str:
    """A token with these claims beside those that it needs; None leaves one out."""
    said = {"sub": "ada", "exp": now() + HOUR, **claims}
    given = {name: value for name, value in said.items() if value is not None}
    return jwt.encode(given, secret, algorithm=algorithm, headers=headers)


def by_hand(header: dict[str, Any], claims: dict[str, Any], signature: bytes = b"") -> str:
    """A token that no library would make."""
    return ".".join(
        urlsafe_b64encode(part).rstrip(b"=").decode()
        for part in (orjson.dumps(header), orjson.dumps(claims), signature)
    )


def reason(token: str, keys: SharedSecret = KEYS) -> str:
    """Why a token is refused."""
    with pytest.raises(Unauthenticated) as caught:
        keys.caller(token)
    told = str(caught.value)
    assert told.startswith("Your token was not accepted: ")
    assert SECRET not in told
    return told.removeprefix("Your token was not accepted: ").removesuffix(".")


def test_an_issued_token_has_its_subject_and_scopes() -> None:
    for keys in (KEYS, STRICT):
        token = keys.issue("ada\u3000l", [EVENTS_WRITE, LOGS_READ], HOUR)

        caller = keys.caller(token)

        assert caller == Caller("ada\u3000l", frozenset({EVENTS_WRITE, LOGS_READ}))


SCOPES_SAID: list[tuple[dict[str, Any], set[Scope]]] = [
    ({"scope": "events:write logs:read"}, {EVENTS_WRITE, LOGS_READ}),
    ({"scope": "logs:read logs:read other admin * "}, {LOGS_READ}),
    ({"scope": "LOGS:READ events:write,logs:read"}, set()),
    ({"scp": ["events:write", 7, None, "other"]}, {EVENTS_WRITE}),
    ({"scp": "events:write"}, {EVENTS_WRITE}),
    ({"scope": "logs:read", "scp": ["events:write"]}, {LOGS_READ}),
    *(({"scope": nothing}, set()) for nothing in ("", None, 7, {"events:write": True})),
]


def test_only_existing_scopes_count() -> None:
    for claims, scopes in SCOPES_SAID:
        assert KEYS.caller(signed(**claims)).scopes == scopes, claims


def test_a_token_without_a_caller_or_an_end_is_refused() -> None:
    assert reason(signed(exp=0)) == "it has expired"
    assert reason(signed(exp="soon")) == "it cannot be read"
    for token in (signed(exp=None), signed(sub=None)):
        assert reason(token) == "it lacks `exp`, `sub`, `aud` or `iss`"
    for subject in ("", "x" * 257, "ada\nroot", "\x1b[31mada"):
        assert reason(signed(sub=subject)) == "its `sub` must be 1 to 256 characters, without control characters"


def test_clocks_may_differ_by_the_leeway_and_not_by_more() -> None:
    for keys in (KEYS, STRICT):
        mine: dict[str, Any] = {"iss": "https://issuer.example", "aud": "quakegraph"}
        nearly: list[dict[str, Any]] = [{"exp": now() - 20}, {"nbf": now() + 20}, {"iat": now() + 20}]
        for claims in nearly:
            assert keys.caller(signed(**mine, **claims)).subject == "ada"
        assert reason(signed(**mine, exp=now() - 60), keys) == "it has expired"
        assert reason(signed(**mine, nbf=now() + 60), keys) == "it is not valid yet"
        assert reason(signed(**mine, iat=now() + 60), keys) == "it is not valid yet"


def test_the_issuer_and_the_audience_must_be_those_that_are_set() -> None:
    mine: dict[str, Any] = {"iss": "https://issuer.example", "aud": "quakegraph"}

    assert STRICT.caller(signed(**mine)).subject == "ada"
    assert STRICT.caller(signed(**mine | {"aud": ["other", "quakegraph"]})).subject == "ada"
    assert KEYS.caller(signed(**mine | {"aud": "anything"})).subject == "ada"
    assert reason(signed(**mine | {"iss": "https://issuer.example.evil"}), STRICT) == "it is from another issuer"
    assert reason(signed(**mine | {"aud": "quake"}), STRICT) == "it is for another audience"
    assert reason(signed(aud="quakegraph"), STRICT) == "it lacks `exp`, `sub`, `aud` or `iss`"
    assert reason(signed(iss="https://issuer.example"), STRICT) == "it lacks `exp`, `sub`, `aud` or `iss`"


def test_no_other_key_and_no_other_algorithm_will_do() -> None:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    claims = {"sub": "ada", "exp": now() + HOUR}
    other = "another secret that is as long as a hash, and longer"

    assert reason(signed(other)) == "its signature does not hold"
    assert reason(signed()[:-3] + "AAA") == "its signature does not hold"
    header, body, signature = signed().split(".")
    raised = by_hand({}, claims | {"scope": "events:write"}).split(".")[1]
    assert reason(f"{header}.{raised}.{signature}") == "its signature does not hold"
    refused = "it is signed by an algorithm that is not accepted here"
    for algorithm in ("none", "None", "NONE", "nOnE", "HS384", "HS512", "RS256", "ES256", "", "dir"):
        assert reason(by_hand({"alg": algorithm, "typ": "JWT"}, claims)) in {refused, "it cannot be read"}
        assert reason(by_hand({"alg": algorithm}, claims, b"x" * 32)) in {refused, "it cannot be read"}
    assert reason(signed(private, "RS256")) == refused
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        assert reason(signed(SECRET, "HS512")) == refused
    assert reason(f"{header}.{body}.") == "its signature does not hold"


def test_a_key_that_the_token_brings_along_is_not_used() -> None:
    other = "a key of the attacker's own, as long as a hash at least"
    key = {"kty": "oct", "k": urlsafe_b64encode(other.encode()).decode()}
    for headers in (
        {"jwk": key},
        {"jku": "http://127.0.0.1:9/keys"},
        {"x5u": "http://127.0.0.1:9/certificate"},
        {"kid": "../../../dev/null"},
        {"kid": "' OR 1=1 --"},
    ):
        assert reason(signed(other, headers=headers)) == "its signature does not hold"


def test_a_malformed_token_cannot_be_read_and_a_very_long_one_is_not() -> None:
    texts = ["x", "..", "a.b", "a.b.c", "a.b.c.d", "é.é.é", "\0", "eyJ9.eyJ9.eyJ9", "null.null.null", signed()[:40]]
    for token in (*texts, "=" * 99):
        assert reason(token) == "it cannot be read"

    most = signed(padding="x" * 5700)
    assert len(most) < LONGEST_TOKEN
    assert KEYS.caller(most).subject == "ada"
    for token in ("x" * (LONGEST_TOKEN + 1), signed(padding="x" * 100_000)):
        assert reason(token) == "it is longer than 8,192 characters"


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tokens whose signature was checked."""
    found: list[str] = []
    decode = jwt.decode

    def noted(token: str, *args: Any, **options: Any) -> Any:
        found.append(token)
        return decode(token, *args, **options)

    monkeypatch.setattr(jwt, "decode", noted)
    return found


def test_a_good_token_is_checked_once_until_it_expires_and_a_bad_one_each_time(
    decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = signed(exp=now() - HOUR)
    assert [reason(bad) for _ in range(3)] == ["it has expired"] * 3
    assert decoded == [bad] * 3
    decoded.clear()

    keys = SharedSecret(SECRET, Claims(leeway_s=30))
    token = keys.issue("ada", [], HOUR)
    callers = [keys.caller(token) for _ in range(3)]
    assert (callers, decoded) == ([callers[0]] * 3, [token])

    expired = time.time() + HOUR + 30
    monkeypatch.setattr(time, "time", lambda: expired)
    keys.caller(token)
    assert decoded == [token] * 2


def test_a_token_that_one_key_has_checked_is_not_good_by_another(decoded: list[str]) -> None:
    tokens, token = Tokens(Claims()), signed()
    for _ in range(2):
        tokens.caller(token, SECRET, "HS256")
    for _ in range(2):
        with pytest.raises(Unauthenticated):
            tokens.caller(token, f"{SECRET}, but another", "HS256")
    assert decoded == [token] * 3


def test_a_bounded_number_of_tokens_is_remembered(decoded: list[str]) -> None:
    tokens = Tokens(Claims())
    first, *others = [signed(sub=f"user {number}") for number in range(REMEMBERED + 1)]
    for token in (first, first, *others, first):
        tokens.caller(token, SECRET, "HS256")
    assert decoded == [first, *others, first]
