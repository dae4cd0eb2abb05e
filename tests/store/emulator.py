"""Which emulator of DynamoDB the tests run against: DynamoDB Local, or moto where a machine lacks Java or npm.

moto differs from DynamoDB in a few ways. The tests that would notice are named here, one by
one, and deselected with a line that says so. In CI (environment variable `CI`) only DynamoDB
Local will do.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from moto.server import ThreadedMotoServer

from scripts import dynamodb_local

MOTO_DIFFERS: dict[str, str] = {}
"""Name of a test → what moto does instead."""

_deselected = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def dynamodb_endpoint() -> Iterator[str]:
    """The endpoint of an emulator that runs until the last test. From here on, AWS's configuration names it."""
    with _started() as url, pytest.MonkeyPatch.context() as environment:
        for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_DYNAMODB"):
            environment.delenv(name, raising=False)
        for name, value in {
            "AWS_ENDPOINT_URL": url,
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_CONFIG_FILE": "",
            "AWS_SHARED_CREDENTIALS_FILE": "",
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            environment.setenv(name, value)
        yield url


@contextmanager
def _started() -> Iterator[str]:
    """An emulator for as long as the `with` lasts; gives its endpoint URL."""
    if not lacking():
        with dynamodb_local.running() as url:
            yield url
    elif os.environ.get("CI"):
        raise pytest.UsageError(f"DynamoDB Local needs {', '.join(lacking())}: in CI, nothing may be missing")
    else:
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        try:
            host, port = server.get_host_and_port()
            yield f"http://{host}:{port}"
        finally:
            server.stop()


@cache
def lacking() -> tuple[str, ...]:
    """The programs without which DynamoDB Local cannot run here."""
    return dynamodb_local.missing_tools()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_deselected] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not lacking():
        return
    differing = [item for item in items if _runs_on_dynamodb(item) and _name(item) in MOTO_DIFFERS]
    config.stash[_deselected] = sorted({_name(item) for item in differing})
    config.hook.pytest_deselected(items=differing)
    items[:] = [item for item in items if item not in differing]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not lacking():
        return
    missing = ", ".join(lacking())
    terminalreporter.write_line(
        f"DynamoDB's engine ran on moto, not on DynamoDB Local, for want of {missing}.", yellow=True
    )
    for name in config.stash[_deselected]:
        terminalreporter.write_line(f"Not run, since moto differs: {name}: {MOTO_DIFFERS[name]}", yellow=True)


def _runs_on_dynamodb(item: pytest.Item) -> bool:
    return "dynamodb_endpoint" in getattr(item, "fixturenames", ()) or "[dynamodb" in item.name


def _name(item: pytest.Item) -> str:
    return str(getattr(item, "originalname", item.name))
