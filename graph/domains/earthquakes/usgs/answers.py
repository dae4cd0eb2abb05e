"""What USGS answers: features, counts and events, read as they arrive, and the validators of an answer."""

import asyncio
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

import httpx
import orjson

from graph.core.geojson.feature_json import RawFeature, UnreadableFeature, read_detail
from graph.core.geojson.feature_splitter import FeatureSplitter, InvalidGeoJson
from graph.core.geojson.reading import CHUNK_BYTES, MAX_DETAIL_BYTES, parsed_features
from graph.core.gzipped import compressor
from graph.core.numbers import whole
from graph.domains.earthquakes.usgs.errors import InvalidUpstreamResponse
from graph.domains.earthquakes.usgs.requests import MAX_EVENTS

MAX_COUNT_BYTES = 64 * 1024  # a count takes about 200

_VALIDATOR = re.compile(r"[\x20-\x7e]{1,200}")  # a longer one, or one that is not ASCII, is dropped

NOT_A_CATALOGUE = "USGS answered with something else than a catalogue: try again later."
_NOT_AN_EVENT = "USGS answered with something else than an event: try again later."
_NOT_A_COUNT = "USGS answered with something else than a count of events: try again later."


@dataclass(frozen=True, slots=True)
class Validators:
    """What identifies a version of an answer. A request that carries them is answered only with another version.

    Source: RFC 9110 sections 8.8 and 13.1
    """

    etag: str | None = None
    last_modified: str | None = None

    @classmethod
    def of(cls, response: httpx.Response) -> "Validators":
        """The validators of an answer, without those that cannot be sent back."""
        etag, last_modified = (response.headers.get(name, "") for name in ("ETag", "Last-Modified"))
        return cls(*(value if _VALIDATOR.fullmatch(value) else None for value in (etag, last_modified)))

    @property
    def conditions(self) -> Mapping[str, str]:
        """The headers that ask for an answer only if it is another version."""
        named = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in named.items() if value}


NO_VALIDATORS = Validators()


@dataclass(frozen=True, slots=True)
class UsgsAnswer:
    """The features of an answer, with the size and hash of its body."""

    features: list[RawFeature]  # empty if the version that the caller has is still the latest
    size: int  # bytes of the body, decompressed
    sha256: str  # of the decompressed body, in hexadecimal digits
    retries: int = 0  # attempts made after the first
    validators: Validators = NO_VALIDATORS
    url: str | None = None  # of the request at USGS's public service
    gzipped: bytes = b""  # the body; empty if no copies are made


NO_BODY = UsgsAnswer(features=[], size=0, sha256=hashlib.sha256().hexdigest())


@dataclass(frozen=True, slots=True)
class UsgsCount:
    """How many events match a query, and how many of them USGS sends in one answer."""

    events: int
    most_at_once: int  # 20,000, unless USGS names a lower limit
    retries: int = 0  # attempts made after the first


@dataclass(frozen=True, slots=True)
class UsgsEvent:
    """What USGS says of an id: it names an event, names one that was deleted, or is unknown."""

    feature: Mapping[str, Any] | None = None  # without its products; None if the event is deleted or unknown
    deleted: bool = False
    retries: int = 0  # attempts made after the first


async def read_answer(response: httpx.Response, *, longest: int, copies: bool) -> UsgsAnswer:
    """Parse the body as it arrives. The whole body is hashed, even if it cannot be parsed.

    Args:
        response: the answer.
        longest: bytes of the body.
        copies: whether the answer has its body, too.

    Raises:
        InvalidUpstreamResponse: It is too long, or no FeatureCollection.
    """
    validators = Validators.of(response)
    if response.status_code == HTTPStatus.NO_CONTENT:
        return replace(NO_BODY, validators=validators)
    splitter, features = FeatureSplitter(), list[RawFeature]()
    digest, size = hashlib.sha256(), 0
    copy = compressor() if copies else None
    gzipped = bytearray()
    damage: InvalidGeoJson | None = None
    async for chunk in response.aiter_bytes(CHUNK_BYTES):
        size += len(chunk)
        if size > longest:
            raise InvalidUpstreamResponse("USGS answered with too much: lower `limit`, or narrow the window.")
        digest.update(chunk)
        if copy:
            gzipped += copy.compress(chunk)
        if damage is None:
            try:
                features += parsed_features(splitter, chunk)
            except InvalidGeoJson as error:
                damage = error
        await asyncio.sleep(0)  # gives way to other work: a chunk takes milliseconds to parse
    try:
        if damage is not None:
            raise damage
        splitter.close()
    except InvalidGeoJson as error:
        raise InvalidUpstreamResponse(NOT_A_CATALOGUE, retry_after_s=0, size=size, sha256=digest.hexdigest()) from error
    if copy:
        gzipped += copy.flush()
    body = bytes(gzipped)
    return UsgsAnswer(features, size, digest.hexdigest(), validators=validators, gzipped=body)


async def read_count(response: httpx.Response) -> UsgsCount:
    """Read a count; InvalidUpstreamResponse if it is none."""
    try:
        answer = orjson.loads(await _read_body(response, MAX_COUNT_BYTES, _NOT_A_COUNT))
        events, most_at_once = whole(answer["count"]), whole(answer["maxAllowed"])
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise InvalidUpstreamResponse(_NOT_A_COUNT, retry_after_s=0) from error
    if events is None or most_at_once is None or events < 0 or most_at_once < 1:
        raise InvalidUpstreamResponse(_NOT_A_COUNT, retry_after_s=0)
    return UsgsCount(events, min(most_at_once, MAX_EVENTS))


async def read_event(response: httpx.Response) -> UsgsEvent:
    """Read the summary of an event, without its products; InvalidUpstreamResponse if it is none."""
    if response.status_code != HTTPStatus.OK:
        return UsgsEvent(deleted=response.status_code == HTTPStatus.CONFLICT)
    feature = read_detail(await _read_body(response, MAX_DETAIL_BYTES, _NOT_AN_EVENT), 1)
    if isinstance(feature, UnreadableFeature) or type(feature.get("properties")) is not dict:
        raise InvalidUpstreamResponse(_NOT_AN_EVENT, retry_after_s=0)
    return UsgsEvent(feature)


async def _read_body(response: httpx.Response, longest: int, refusal: str) -> bytes:
    """The whole body. A longer one is an error with this message, and may be shorter at the next attempt."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > longest:
            raise InvalidUpstreamResponse(refusal, retry_after_s=0)
    return bytes(body)
