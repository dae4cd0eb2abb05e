"""Tokens that are signed with the right key, and say what no issuer would let them say."""

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import jwt

from tests.access.key_server import SigningKey

Sign = Callable[[bytes], bytes]

LATER = 4_102_444_800  # the year 2100; a time of now would give a test another name in each process
DEEP = ("[" * 2500 + "]" * 2500, '{"a":' * 900 + "1" + "}" * 900)  # and within the length of a token

NO_NUMBERS = '"soon" "" "1" "\\u0664\\u0662" true false null [] {} NaN Infinity -Infinity 1e308 1e400 -1e308 1e17 -1e17'
NO_TIMES = (
    *NO_NUMBERS.split(),
    *(f'"{LATER}"', f'" {LATER} "', f"[{LATER}]", f'{{"seconds": {LATER}}}', str(2**53 + 1), str(2**64)),
    *("1" + "0" * 400, "-1" + "0" * 400, "1" + "0" * 5000, *DEEP),
)
"""No time in seconds, as JSON."""

PAST = ("0", "-0", "-1", "-0.5", "1", "0.5", "1e9", str(-(2**53)))  # times, each long ago
PLAIN = '"" "x" "events:read" "\\ud800" "\\u0000" 0 7 -1 1.5 1e308 NaN Infinity -Infinity true false null [] {}'
OF_EVERY_TYPE = (
    *PLAIN.split(),
    *('["x"]', "[null]", "[[]]", '[["events:write"]]', '[{"a": 1}]', "[7, NaN]", "1" + "0" * 400),
    *('{"events:write": true}', '{"a": {"b": [null]}}', *DEEP),
)


def by_secret(secret: str) -> Sign:
    return lambda data: hmac.new(secret.encode(), data, hashlib.sha256).digest()


def by_key(key: SigningKey) -> Sign:
    algorithm: Any = jwt.get_algorithm_by_name(key.algorithm)
    return lambda data: bytes(algorithm.sign(data, key.private))


def token(sign: Sign, header: str, body: str) -> str:
    """A token of these two JSON texts, signed."""
    said = b".".join(urlsafe_b64encode(part.encode("utf-8", "surrogatepass")).rstrip(b"=") for part in (header, body))
    return (said + b"." + urlsafe_b64encode(sign(said)).rstrip(b"=")).decode()


def members(**claims: str) -> str:
    """A JSON object with these members, whose values are JSON texts, beside those that a token needs."""
    said = {"sub": '"ada"', "exp": str(LATER), **claims}
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in said.items()) + "}"
