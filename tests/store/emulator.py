"""Which emulator of DynamoDB the tests run against: DynamoDB Local, or moto where a machine lacks Java or npm.

moto runs the store's contract. It differs from DynamoDB in a few ways, and the tests that would
notice are named here, one by one, and deselected with a line that says so. What stands on the
store is not tested on it: it copies the whole table for every transaction and keeps the copies,
so an ingest of a week takes more memory than a machine has. In CI (environment variable `CI`)
only DynamoDB Local will do.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import aioboto3
import pytest
from aiobotocore.session import AioSession
from botocore import regions
from botocore.endpoint_provider import EndpointProvider
from botocore.retries.standard import ExponentialBackoff

from graph.store.dynamodb import client
from graph.store.dynamodb.parsing import parsing_session
from scripts import dynamodb_local
from tests.left_open import emulators

_STREAMS_ONCE = "it switches no stream on again that was switched off"
_OFFERS_RECOVERY = "it offers point-in-time recovery, which DynamoDB Local does not"

MOTO_DIFFERS: dict[str, str] = {
    "test_a_filter_admits_the_same_items_on_every_engine": "it takes True for the number 1",
    "test_an_attribute_may_have_any_name": "it takes `a[0]` in a projection for an element even behind an alias",
    "test_an_item_just_within_the_limits_is_stored": "it refuses items from 405,000 bytes on, DynamoDB from 409,601",
    "test_a_table_is_created_with_what_it_declares_and_not_changed_again": _OFFERS_RECOVERY,
    "test_a_stream_is_switched_on_where_it_is_wanted_and_not_changed": _STREAMS_ONCE,
    "test_a_stream_that_is_switched_off_is_reported_once_and_looked_for_again": _STREAMS_ONCE,
    "test_a_table_name_that_dynamodb_refuses_is_reported": "it takes any name",
    "test_a_table_that_is_missing_or_another_is_named_with_what_to_do": "it takes a missing index for a missing table",
    "test_a_lost_answer_neither_counts_twice_nor_passes_for_a_refusal": "it applies a repeated token again",
}
"""Name of a test → what moto does instead."""

CONTRACT = Path(__file__).parent
"""The folder of the tests that moto can run."""

_shared = pytest.StashKey[ExitStack]()  # what runs for all processes of pytest-xdist
_urls = pytest.StashKey[dict[str, str]]()
SHARED = ("dynamodb_endpoint", "administered_dynamodb")
"""Names of the emulators that all processes of pytest-xdist share."""
_deselected = pytest.StashKey[list[str]]()  # names of tests of the contract
_too_much = pytest.StashKey[int]()  # number of tests of what stands on the store


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of pytest-xdist where the emulators are that all of them share, and that this process ends."""
    if lacking():
        return
    config: pytest.Config = node.config
    if _urls not in config.stash:
        start = config.stash[_shared].enter_context
        config.stash[_urls] = {name: start(dynamodb_local.running(wait=False)) for name in SHARED}
    node.workerinput.update(config.stash[_urls])


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[_shared].close()


@contextmanager
def emulator(config: pytest.Config, name: str) -> Iterator[str]:
    """One of the emulators of `SHARED`: another process has started it and will end it, or this one does."""
    if url := getattr(config, "workerinput", {}).get(name):
        dynamodb_local.wait_for(url)
        emulators.add(url)
        yield url
    else:
        with _emulator_of_this_process() as url:
            yield url


@contextmanager
def _emulator_of_this_process() -> Iterator[str]:
    with moto() if lacking() else dynamodb_local.running() as url:
        emulators.add(url)
        yield url


@pytest.fixture(scope="session")
def _dynamodb(request: pytest.FixtureRequest) -> Iterator[str]:
    with emulator(request.config, "dynamodb_endpoint") as url, pytest.MonkeyPatch.context() as environment:
        for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN"):
            environment.delenv(name, raising=False)
        for service in ("DYNAMODB", "DYNAMODB_STREAMS"):
            environment.delenv(f"AWS_ENDPOINT_URL_{service}", raising=False)
        for name, value in {
            "AWS_ENDPOINT_URL": url,
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",  # pragma: allowlist secret
            "AWS_CONFIG_FILE": "",
            "AWS_SHARED_CREDENTIALS_FILE": "",
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            environment.setenv(name, value)
        environment.setattr(ExponentialBackoff, "delay_amount", lambda *_: 0.0)
        environment.setattr(client, "parsing_session", _session_of_environment)
        environment.setattr(aioboto3, "Session", cache(aioboto3.Session))
        environment.setattr(regions, "EndpointProvider", _kept_rules)
        yield url


def _session_of_environment() -> AioSession:
    """botocore's session for AWS's configuration, kept unless files have a part in it.

    To make a session takes botocore 4 ms and a client another 5, and each test opens a database.
    """
    configuration = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    if configuration.get("AWS_CONFIG_FILE") == configuration.get("AWS_SHARED_CREDENTIALS_FILE") == "":
        return _kept_session(tuple(sorted(configuration.items())))
    return parsing_session()


_rules: dict[int, EndpointProvider] = {}


def _kept_rules(ruleset_data: dict[str, Any], partition_data: dict[str, Any]) -> EndpointProvider:
    """A service's rules of its endpoints. Their data stand in `tests.sharing`'s one loader."""
    if id(ruleset_data) not in _rules:
        _rules[id(ruleset_data)] = EndpointProvider(ruleset_data, partition_data)
    return _rules[id(ruleset_data)]


@cache
def _kept_session(configuration: tuple[tuple[str, str], ...]) -> AioSession:
    return parsing_session()


@pytest.fixture(scope="session")
def dynamodb_endpoint(_dynamodb: str) -> str:
    """The endpoint of an emulator that runs until the last test. From here on, AWS's configuration names it.

    botocore tries again at once from here on, instead of after up to two seconds.
    """
    return _dynamodb


@pytest.fixture(scope="session")
def _administered(request: pytest.FixtureRequest, _dynamodb: str) -> Iterator[str]:
    with emulator(request.config, "administered_dynamodb") as url:
        yield url


@pytest.fixture(scope="module")
def administered_dynamodb(_administered: str) -> Iterator[str]:
    """The endpoint of an emulator for tests that update tables, which AWS's configuration names during a module.

    DynamoDB Local updates no table while it removes one, as it does all the time at `dynamodb_endpoint`. Such a module
    has this one in its place. At each update, it reads all tables, of which there are few here.
    """
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", _administered)
        yield _administered


@pytest.fixture(scope="module")
def new_dynamodb(_dynamodb: str) -> Iterator[str]:
    """The endpoint of an empty emulator for tests that make an index, which AWS's configuration names during a module.

    DynamoDB Local has ten threads for its own work. Each table whose items expire keeps one of them for most of the
    time, so that in an emulator with more than a few such tables a new index may wait for minutes.
    """
    with _emulator_of_this_process() as url, pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", url)
        yield url


@contextmanager
def moto() -> Iterator[str]:
    """moto's server for as long as the `with` lasts; gives its endpoint URL."""
    from moto.server import ThreadedMotoServer  # 12 MB that few processes need

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
    config.stash[_shared] = ExitStack()
    config.stash[_deselected] = []
    config.stash[_too_much] = 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not lacking():
        return
    if os.environ.get("CI") and any(map(_runs_on_dynamodb, items)):
        raise pytest.UsageError(f"DynamoDB Local needs {', '.join(lacking())}: in CI, nothing may be missing")
    on_moto = [item for item in items if _runs_on_dynamodb(item)]
    too_much = [item for item in on_moto if not item.path.is_relative_to(CONTRACT)]
    differing = [item for item in on_moto if item not in too_much and _name(item) in MOTO_DIFFERS]
    config.stash[_deselected] = sorted({_name(item) for item in differing})
    config.stash[_too_much] = len(too_much)
    left_out = {*too_much, *differing}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not lacking():
        return
    missing = ", ".join(lacking())
    terminalreporter.write_line(
        f"DynamoDB's engine ran on moto, not on DynamoDB Local, for want of {missing}.", yellow=True
    )
    if count := config.stash[_too_much]:
        terminalreporter.write_line(
            f"Not run, since moto copies a table for each transaction: {count} tests", yellow=True
        )
    for name in config.stash[_deselected]:
        terminalreporter.write_line(f"Not run, since moto differs: {name}: {MOTO_DIFFERS[name]}", yellow=True)


def _runs_on_dynamodb(item: pytest.Item) -> bool:
    return "_dynamodb" in getattr(item, "fixturenames", ()) or "[dynamodb" in item.name


def _name(item: pytest.Item) -> str:
    return str(getattr(item, "originalname", item.name))
