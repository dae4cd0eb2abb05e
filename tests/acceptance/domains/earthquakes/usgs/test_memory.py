"""The memory that reading a file takes does not grow with the file."""

import gzip
import io
import itertools

import orjson
import pytest

from graph.core.geojson.feature_json import UnreadableFeature
from graph.core.geojson.reading import read_features
from tests.acceptance.memory import traced
from tests.domains.earthquakes.usgs.usgs_server import week_features

FEATURE = week_features()[0]
LINE = orjson.dumps(FEATURE)
LONG_LINE = orjson.dumps(FEATURE | {"title": "x" * 10_000})
LENGTH, MOST_BYTES = 20_000_000, 2_000_000
LONG_LINES = LENGTH // (len(LONG_LINE) + 1)


class Repeated:
    """A stream that is nowhere held as a whole: a beginning, a part over and over, and an end."""

    def __init__(self, beginning: bytes, part: bytes, end: bytes) -> None:
        self._parts = itertools.chain([beginning], itertools.repeat(part, LENGTH // len(part)), [end])
        self._held = b""

    def read(self, size: int, /) -> bytes:
        while len(self._held) < size and (part := next(self._parts, None)) is not None:
            self._held += part
        data, self._held = self._held[:size], self._held[size:]
        return data


@pytest.mark.parametrize(
    ("beginning", "part", "end", "count"),
    [
        pytest.param(b"", LONG_LINE + b"\n", b"", LONG_LINES, id="lines"),
        pytest.param(b'{"features": [', LONG_LINE + b",", LINE + b"]}", LONG_LINES + 1, id="collection"),
        pytest.param(LINE + b"\n", b"x" * 1000, b"\n" + LINE, 3, id="endless"),
        pytest.param(LINE + b"\n", b" " * 999 + b"\n", b"", 1, id="blank"),
    ],
)
def test_memory_does_not_grow_with_a_file(beginning: bytes, part: bytes, end: bytes, count: int) -> None:
    with traced() as memory:
        assert sum(1 for _ in read_features(Repeated(beginning, part, end))) == count
        assert memory()[1] < MOST_BYTES


def test_memory_does_not_grow_with_what_a_file_unzips_to() -> None:
    zipped = gzip.compress(LINE + b"\n" + bytes(LENGTH))

    with traced() as memory:
        features = list(read_features(io.BytesIO(zipped)))
        assert memory()[1] < MOST_BYTES
    assert features == [FEATURE, UnreadableFeature(2, "longer than 1,048,576 bytes")]
