"""Headers of a proxy count only where the operator names the proxy: else each forged address had its own budget."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.processes import NOWHERE, TIMEOUT_S
from tests.settings import Settings
from tests.subscribers import live_service

# The larger part of a caller's budget below, so that a second one in the same minute is refused.
DEAR = {"query": "{ events(first: 798) { nodes { id } } }"}


@contextmanager
def behind(proxies: str | None, folder: Path) -> Iterator[httpx.Client]:
    """A client without a token of a service that trusts these proxies."""
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv("FORWARDED_ALLOW_IPS", raising=False)
        if proxies is not None:
            environment.setenv("FORWARDED_ALLOW_IPS", proxies)
        settings = Settings(store=f"sqlite:///{folder / 'empty.db'}", usgs_url=NOWHERE, rate_limit=1000)
        with live_service(settings) as service, httpx.Client(base_url=service.url, timeout=TIMEOUT_S) as http:
            yield http


def status(http: httpx.Client, **headers: str) -> int:
    """The status of the answer to a dear query."""
    accept = {"Accept": "application/graphql-response+json"}
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return http.post("/graphql", json=DEAR, headers={**accept, **headers}).status_code


@pytest.mark.parametrize("proxies", [None, "", "192.0.2.1", "localhost"])
def test_a_forged_address_has_no_budget_of_its_own(tmp_path: Path, proxies: str | None) -> None:
    with behind(proxies, tmp_path) as http:
        assert status(http) == 200  # and from then on, all without a token share what is left of their address
        assert {status(http, X_Forwarded_For=f"203.0.113.{number}") for number in range(5)} == {429}
        for name in ("Forwarded", "X-Real-IP"):
            assert status(http, **{name: "203.0.113.9"}) == 429


@pytest.mark.parametrize("proxies", ["127.0.0.1", "192.0.2.1, 127.0.0.0/8", "*"])
def test_callers_behind_a_trusted_proxy_are_distinguished(tmp_path: Path, proxies: str) -> None:
    with behind(proxies, tmp_path) as http:
        assert status(http, X_Forwarded_For="203.0.113.1") == 200
        assert status(http, X_Forwarded_For="203.0.113.1") == 429
        assert status(http, X_Forwarded_For="203.0.113.2") == 200
        if proxies != "*":  # else the first address counts, which a client may have written itself
            assert status(http, X_Forwarded_For="203.0.113.3, 203.0.113.2") == 429
