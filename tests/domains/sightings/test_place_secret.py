"""Processes that share a secret know each other's recent reports."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from graph.domains.sightings import place_secret
from tests.service import Service, running
from tests.settings import Settings

REPORT = """mutation($lat: Float!) {
  reportSighting(input: {category: FIRE, lat: $lat, lon: 13.4}) { created sighting { sightingId } }
}"""


def reported(service: Service, lat: float) -> dict[str, Any]:
    outcome: dict[str, Any] = service.ask(REPORT, {"lat": lat})["reportSighting"]
    return outcome


@pytest.mark.parametrize("given", [{}, {"sighting_key": SecretStr("k" * 200)}])
def test_a_process_finds_what_another_one_has_taken(tmp_path: Path, given: dict[str, Any]) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/shared.db", **given)
    with running(settings) as one, running(settings) as other:
        first = reported(one, 52.5)
        assert first["created"]
        assert reported(other, 52.50001) == {**first, "created": False}


def test_processes_with_other_secrets_do_not(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/shared.db")
    with running(settings) as one, running(settings.model_copy(update={"sighting_key": SecretStr("k" * 16)})) as other:
        assert reported(one, 52.5)["created"]
        assert reported(other, 52.5)["created"]


def test_the_secret_is_the_configured_one_or_that_of_tokens_or_random(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/quakes.db"
    tokens, places = SecretStr("t" * 32), SecretStr("p" * 16)
    assert place_secret(Settings(store=store, jwt_secret=tokens, sighting_key=places)) == "p" * 16
    assert place_secret(Settings(store=store, jwt_secret=tokens)) == "t" * 32
    assert place_secret(Settings(store=store)) == place_secret(Settings(store=store))
    keys = Settings(store=store, jwks_url="https://issuer.example/keys")
    assert place_secret(keys) != place_secret(keys)
