"""Headers of a proxy count only where the operator names the proxy: else each forged address had its own budget."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.processes import TIMEOUT_S, Server, serving

# The larger part of a caller's budget below, so that a second one in the same minute is refused.
DEAR = {"query": "{ events(first: 798) { nodes { id } } }"}


@contextmanager
def behind(proxies: str | None, folder: Path) -> Iterator[Server]:
    named = {} if proxies is None else {"FORWARDED_ALLOW_IPS": proxies}
    with serving(folder=folder, settings={"GRAPH_RATE_LIMIT": "1000", **named}) as server:
        yield server


def status(server: Server, **headers: str) -> int:
    """The status of the answer to a caller without a token."""
    accept = {"Accept": "application/graphql-response+json"}
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = httpx.post(server.url, json=DEAR, headers={**accept, **headers}, timeout=TIMEOUT_S, trust_env=False)
    return answer.status_code


def metrics(server: Server, **headers: str) -> int:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    url = server.url.replace("/graphql", "/metrics")
    return httpx.get(url, headers=headers, timeout=TIMEOUT_S, trust_env=False).status_code


@pytest.mark.parametrize("proxies", [None, "", "192.0.2.1", "localhost"])
def test_a_forged_address_has_no_budget_of_its_own(tmp_path: Path, proxies: str | None) -> None:
    with behind(proxies, tmp_path) as server:
        assert status(server) == 200
        assert {status(server, X_Forwarded_For=f"203.0.113.{number}") for number in range(5)} == {429}
        for name in ("Forwarded", "X-Real-IP"):
            assert status(server, **{name: "203.0.113.9"}) == 429


@pytest.mark.parametrize("proxies", ["127.0.0.1", "192.0.2.1, 127.0.0.0/8", "*"])
def test_callers_behind_a_trusted_proxy_are_distinguished(tmp_path: Path, proxies: str) -> None:
    with behind(proxies, tmp_path) as server:
        assert status(server, X_Forwarded_For="203.0.113.1") == 200
        assert status(server, X_Forwarded_For="203.0.113.1") == 429
        assert status(server, X_Forwarded_For="203.0.113.2") == 200
        if proxies != "*":  # else the first address counts, which a client may have written itself
            assert status(server, X_Forwarded_For="203.0.113.3, 203.0.113.2") == 429


@pytest.mark.parametrize("proxies", [None, "127.0.0.1", "*"])
def test_metrics_are_refused_through_a_proxy(tmp_path: Path, proxies: str | None) -> None:
    with behind(proxies, tmp_path) as server:
        assert metrics(server) == 200
        for address in ("203.0.113.1", "10.0.0.1", "127.0.0.1", ""):
            assert metrics(server, X_Forwarded_For=address) == 404
            assert metrics(server, Forwarded=f"for={address}") == 404
