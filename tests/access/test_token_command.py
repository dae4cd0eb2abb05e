"""`quakegraph token`: one line, which the service takes."""

from pathlib import Path

import jwt
import pytest

from tests.bearers import SCOPES, SECRET
from tests.processes import quakegraph


def claims_of(token: str, secret: str = SECRET) -> dict[str, object]:
    claims: dict[str, object] = jwt.decode(token, secret, algorithms=["HS256"], options={"verify_aud": False})
    return claims


def test_the_command_prints_a_token_alone_on_a_line() -> None:
    said = quakegraph("token", "--scope", "events:write,logs:read", "--subject", "importer")

    assert (said.exit_code, said.stderr, said.stdout.count("\n")) == (0, "", 1)
    claims = claims_of(said.stdout.strip())
    assert (claims["sub"], claims["scope"]) == ("importer", "events:write logs:read")


@pytest.mark.parametrize(
    ("expires", "seconds"), [(None, 3600), ("90s", 90), ("30m", 1800), ("12h", 43_200), ("7d", 604_800)]
)
def test_a_token_is_valid_for_its_lifetime(expires: str | None, seconds: int) -> None:
    options = ["--expires", expires] if expires else []
    claims = claims_of(quakegraph("token", "--scope", "events:read", "--subject", "a", *options).stdout.strip())

    assert isinstance(claims["exp"], int)
    assert isinstance(claims["iat"], int)
    assert claims["exp"] - claims["iat"] == seconds


def test_a_token_names_the_issuer_and_the_audience_that_are_set() -> None:
    named = {"GRAPH_JWT_ISSUER": "https://quakes.example", "GRAPH_JWT_AUDIENCE": "quakes"}
    claims = claims_of(quakegraph("token", "--scope", "events:read", "--subject", "a", settings=named).stdout.strip())

    assert (claims["iss"], claims["aud"]) == ("https://quakes.example", "quakes")


def test_without_a_secret_that_of_the_store_signs(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/quakes.db"
    none = {"GRAPH_JWT_SECRET": ""}
    said = quakegraph("token", "--scope", "logs:read", "--subject", "a", "--store", store, settings=none)

    secret = tmp_path / "quakes.db.secret"
    assert claims_of(said.stdout.strip(), secret.read_text())["scope"] == "logs:read"
    secret.chmod(0o644)
    refused = quakegraph("token", "--scope", "logs:read", "--subject", "a", "--store", store, settings=none)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"Error: the secret {secret} can be read by others: run `chmod 600 {secret}`, or delete it\n"
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--subject", "a"], "Missing option '--scope'"),
        (["--scope", "events:read"], "Missing option '--subject'"),
        (["--scope", "events", "--subject", "a"], f"choose from {', '.join(SCOPES)}"),
        (["--scope", "", "--subject", "a"], "names an unknown scope"),
        (["--scope", "events:read,", "--subject", "a"], "names an unknown scope"),
        (["--scope", "events:read", "--subject", ""], "a subject has 1 to 256 characters"),
        (["--scope", "events:read", "--subject", "a\nb"], "a subject has 1 to 256 characters"),
        (["--scope", "events:read", "--subject", "a", "--expires", "1"], "is not a duration: give one such as 30m"),
        (["--scope", "events:read", "--subject", "a", "--expires", "0h"], "is not a duration: give one such as 30m"),
        (["--scope", "events:read", "--subject", "a", "--expires", "-1h"], "is not a duration: give one such as 30m"),
        (["--scope", "events:read", "--subject", "a", "--expires", "367d"], "of 366d at most"),
        (["--scope", "events:read", "--subject", "a", "--expires", "1y"], "is not a duration: give one such as 30m"),
    ],
)
def test_wrong_options_for_a_token_are_reported(options: list[str], says: str) -> None:
    said = quakegraph("token", *options)

    assert (said.exit_code, said.stdout) == (2, "")
    assert says in said.stderr


def test_tokens_of_a_key_set_are_made_elsewhere() -> None:
    keys = {"GRAPH_JWT_SECRET": "", "GRAPH_JWKS_URL": "https://id.example/keys"}
    said = quakegraph("token", "--scope", "events:read", "--subject", "a", settings=keys)

    assert (said.exit_code, said.stdout) == (1, "")
    assert said.stderr == ("Error: tokens for the key set of GRAPH_JWKS_URL are issued where its private keys are\n")
