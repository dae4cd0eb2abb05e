"""Signs the one kind of request that is sent to DynamoDB without a botocore client: POST of JSON to `/`.

It implements Signature Version 4. Of such a request, only the time, the operation and the body differ from those of the
one before it, and the key of a signature holds for a day. botocore's own signer takes eleven times as long, measured by
`python -m benchmarks.micro`.

Source: "Create a signed AWS API request" of the IAM User Guide.
"""

import time
from dataclasses import dataclass, field
from functools import reduce
from hashlib import sha256
from hmac import digest

from botocore.credentials import ReadOnlyCredentials
from yarl import URL

SERVICE = "dynamodb"  # of its streams too
CONTENT_TYPE = "application/x-amz-json-1.0"
API = "DynamoDB_20120810"
STREAMS_API = "DynamoDBStreams_20120810"
ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(slots=True)
class Signer:
    """Signs requests to one endpoint."""

    host: str  # with its port, unless it is the scheme's default
    region: str
    api: str = API
    _key_of: tuple[str, str] = field(default=("", ""), init=False)  # the day and the secret of the key
    _key: bytes = field(default=b"", init=False)

    @classmethod
    def of(cls, endpoint: URL, region: str, api: str = API) -> "Signer":
        """The signer for an endpoint."""
        host = endpoint.host_subcomponent or ""
        return cls(host if endpoint.is_default_port() else f"{host}:{endpoint.port}", region, api)

    def headers(
        self, operation: str, body: bytes, credentials: ReadOnlyCredentials, now: time.struct_time | None = None
    ) -> dict[str, str]:
        """The headers of a request, with its signature. `now` is in UTC, by default the present."""
        at = time.strftime("%Y%m%dT%H%M%SZ", now or time.gmtime())
        signed = {"content-type": CONTENT_TYPE, "host": self.host, "x-amz-date": at}
        if credentials.token:
            signed["x-amz-security-token"] = credentials.token
        signed["x-amz-target"] = f"{self.api}.{operation}"  # the names are in alphabetical order
        lines = "".join([f"{name}:{value}\n" for name, value in signed.items()])
        names = ";".join(signed)
        canonical = f"POST\n/\n\n{lines}\n{names}\n{sha256(body).hexdigest()}"
        scope = f"{at[:8]}/{self.region}/{SERVICE}/aws4_request"
        to_sign = f"{ALGORITHM}\n{at}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"
        signature = digest(self._key_for(at[:8], credentials.secret_key or ""), to_sign.encode(), "sha256").hex()
        credential = f"Credential={credentials.access_key}/{scope}"
        signed["authorization"] = f"{ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"
        return signed

    def _key_for(self, day: str, secret: str) -> bytes:
        if self._key_of != (day, secret):
            parts = (day, self.region, SERVICE, "aws4_request")
            self._key = reduce(lambda key, part: digest(key, part.encode(), "sha256"), parts, f"AWS4{secret}".encode())
            self._key_of = day, secret
        return self._key
