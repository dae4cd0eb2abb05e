"""The region of DynamoDB, as AWS's other tools find it: AWS_REGION first, then AWS_DEFAULT_REGION, then the profile.

Without any, it is the documented one.
"""

from pathlib import Path

import pytest

from graph.domain import tables_of
from graph.domains import DOMAINS
from graph.store.cloudformation import template
from graph.store.dynamodb import RetryPolicy
from graph.store.dynamodb.client import connected, open_streams
from tests.processes import quakegraph
from tests.store.engines import empty_tables, open_samples
from tests.store.fault_proxy import proxying
from tests.store.samples import SAMPLE, sample

CONFIG = "[default]\nregion = ap-south-1\n[profile far]\nregion = sa-east-1\n[profile near]\n"

CASES: dict[str, tuple[dict[str, str], str]] = {
    "alone": ({"AWS_REGION": "eu-central-1"}, "eu-central-1"),
    "other alone": ({"AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
    "both": ({"AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-west-1"}, "eu-central-1"),
    "empty": ({"AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
    "file": ({}, "ap-south-1"),
    "file and profile": ({"AWS_PROFILE": "far"}, "sa-east-1"),
    "over the file": ({"AWS_REGION": "eu-central-1", "AWS_PROFILE": "far"}, "eu-central-1"),
    "none": ({"AWS_PROFILE": "near"}, "us-east-1"),
}


@pytest.fixture(params=CASES)
def region(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The region that a configuration names, which is set."""
    variables, region = CASES[request.param]
    (tmp_path / "config").write_text(CONFIG)
    no_regions(monkeypatch)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return region


def no_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")


async def test_the_clients_are_those_of_the_configured_region(region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB"):
        monkeypatch.delenv(name, raising=False)

    async with connected(["samples"], RetryPolicy()) as connection, open_streams(connection, RetryPolicy()) as streams:
        assert connection.client.meta.endpoint_url == f"https://dynamodb.{region}.amazonaws.com"
        assert streams.meta.endpoint_url == f"https://streams.dynamodb.{region}.amazonaws.com"


def test_the_template_is_of_the_configured_region(region: str) -> None:
    printed = quakegraph("tables", "template")

    assert printed.stdout == template(tables_of(DOMAINS), region=region)
    assert f'"{region}"' in printed.stdout


async def test_every_request_is_signed_for_the_configured_region(
    dynamodb_endpoint: str, region: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with empty_tables([SAMPLE]) as prefix, proxying(dynamodb_endpoint) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        async with open_samples(prefix) as table:
            await table.put(sample(kept=True))
            assert await table.put(sample("q"), if_absent=True), "botocore sends this one"
            assert await table.get(("p", "s")) == sample(kept=True)

    scopes = {head["Authorization"].partition("Credential=")[2].partition(",")[0] for head in proxy.heads}
    assert {scope.split("/")[2:4] == [region, "dynamodb"] for scope in scopes} == {True}
