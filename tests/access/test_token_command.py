"""`quakegraph token`: one line, which the service takes."""

from pathlib import Path
from typing import Any

import jwt

from tests.bearers import SCOPES, SECRET
from tests.processes import quakegraph

GOOD = ["--scope", "events:read", "--subject", "a"]


def claims_of(token: str, secret: str = SECRET) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(token, secret, algorithms=["HS256"], options={"verify_aud": False})
    return claims


def test_the_command_prints_a_token_alone_on_a_line() -> None:
    said = quakegraph("token", "--scope", "events:write,logs:read", "--subject", "my\u00a0importer")

    assert (said.exit_code, said.stderr, said.stdout.count("\n")) == (0, "", 1)
    claims = claims_of(said.stdout.strip())
    assert (claims["sub"], claims["scope"]) == ("my\u00a0importer", "events:write logs:read")


def test_a_token_is_valid_for_its_lifetime_and_names_the_issuer_and_the_audience_that_are_set() -> None:
    named = {"GRAPH_JWT_ISSUER": "https://quakes.example", "GRAPH_JWT_AUDIENCE": "quakes"}
    for expires, seconds in {"": 3600, "90s": 90, "30m": 1800, "12h": 43_200, "7d": 604_800}.items():
        options = [*GOOD, *(["--expires", expires] if expires else [])]
        claims = claims_of(quakegraph("token", *options, settings=named).stdout.strip())
        assert claims["exp"] - claims["iat"] == seconds
        assert (claims["iss"], claims["aud"]) == ("https://quakes.example", "quakes")


def test_without_a_secret_that_of_the_store_signs(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/quakes.db"
    none = {"GRAPH_JWT_SECRET": ""}
    said = quakegraph("token", *GOOD, "--store", store, settings=none)

    secret = tmp_path / "quakes.db.secret"
    assert claims_of(said.stdout.strip(), secret.read_text())["scope"] == "events:read"
    secret.chmod(0o644)
    refused = quakegraph("token", *GOOD, "--store", store, settings=none)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"Error: the secret {secret} can be read by others: run `chmod 600 {secret}`, or delete it\n"
    )


WRONG = {
    "Missing option '--scope'": [["--subject", "a"]],
    "Missing option '--subject'": [["--scope", "events:read"]],
    f"choose from {', '.join(SCOPES)}": [["--scope", "events", "--subject", "a"]],
    "names an unknown scope": [["--scope", scopes, "--subject", "a"] for scopes in ("", "events:read,")],
    "a subject has 1 to 256": [["--scope", "events:read", "--subject", subject] for subject in ("", "a\nb")],
    "is not a duration: give one such as 30m": [[*GOOD, "--expires", time] for time in ("1", "0h", "-1h", "1y")],
    "of 366d at most": [[*GOOD, "--expires", "367d"]],
}


def test_wrong_options_for_a_token_are_reported() -> None:
    for says, wrong in WRONG.items():
        for options in wrong:
            said = quakegraph("token", *options)
            assert (said.exit_code, said.stdout) == (2, "")
            assert says in said.stderr


def test_tokens_of_a_key_set_are_made_elsewhere() -> None:
    keys = {"GRAPH_JWT_SECRET": "", "GRAPH_JWKS_URL": "https://id.example/keys"}
    said = quakegraph("token", *GOOD, settings=keys)

    assert (said.exit_code, said.stdout) == (1, "")
    assert said.stderr == ("Error: tokens for the key set of GRAPH_JWKS_URL are issued where its private keys are\n")
