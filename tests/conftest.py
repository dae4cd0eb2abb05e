"""What all tests share: the engines of the store, DynamoDB's behind an endpoint of this machine's."""

from collections.abc import Iterator

import pytest

from tests.store import emulator

pytest_plugins = ("tests.needs", "tests.store.emulator")


@pytest.fixture(scope="session")
def dynamodb_endpoint() -> Iterator[str]:
    """The endpoint of an emulator that runs until the last test. From here on, AWS's configuration names it."""
    with emulator.started() as url, pytest.MonkeyPatch.context() as environment:
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


@pytest.fixture(params=["sqlite", "dynamodb"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine of the store in turn, ready for `tests.store.engines.empty_table`."""
    if request.param == "dynamodb":
        request.getfixturevalue("dynamodb_endpoint")
    return str(request.param)
