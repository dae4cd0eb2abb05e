"""Direct calls are signed as botocore signs any request."""

import time
from datetime import UTC, datetime

import pytest
from botocore import auth
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from graph.store.dynamodb.signing import Signer

TOKENS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1)
TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2200, 1, 1)).map(lambda time: time.replace(tzinfo=UTC))  # noqa: DTZ001
ENDPOINTS = st.sampled_from(
    [
        "https://dynamodb.eu-central-1.amazonaws.com",
        "https://dynamodb.eu-central-1.amazonaws.com:443/",
        "http://127.0.0.1:8000",
        "http://[::1]:8000/",
        "http://LocalHost",
    ]
)


@given(
    ENDPOINTS,
    st.sampled_from(["GetItem", "Query"]),
    st.binary(),
    st.builds(ReadOnlyCredentials, TOKENS, TOKENS, st.none() | TOKENS),
    TIMES,
)
def test_a_signature_is_botocores(
    endpoint: str, operation: str, body: bytes, credentials: ReadOnlyCredentials, now: datetime
) -> None:
    headers = Signer.of(URL(endpoint), "eu-central-1").headers(operation, body, credentials, now.utctimetuple())

    unsigned = {name: headers[name] for name in ("content-type", "x-amz-target")}
    request = AWSRequest("POST", URL(endpoint).human_repr(), headers=unsigned, data=body)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(auth, "get_current_datetime", lambda: now)
        SigV4Auth(credentials, "dynamodb", "eu-central-1").add_auth(request)
    assert {name: value for name, value in headers.items() if name != "host"} == {
        name.lower(): value for name, value in request.headers.items()
    }


def test_a_key_is_made_for_each_day_and_each_secret() -> None:
    """Credentials are refreshed, and processes run past midnight."""
    signer = Signer.of(URL("http://localhost:8000"), "us-east-1")
    first, second = ReadOnlyCredentials("id", "one", None), ReadOnlyCredentials("id", "two", None)
    days = [time.gmtime(at * 86_400) for at in range(2)]

    signatures = [
        signer.headers("GetItem", b"", each, day)["authorization"] for each in (first, second) for day in days
    ]
    again = [signer.headers("GetItem", b"", each, day)["authorization"] for each in (first, second) for day in days]

    assert len(set(signatures)) == 4
    assert again == signatures
