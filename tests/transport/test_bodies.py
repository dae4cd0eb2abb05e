"""Decompression is bounded, whatever comes."""

import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.errors import BadRequest
from graph.transport.bodies import inflated


@given(st.lists(st.binary(max_size=200_000), min_size=1, max_size=4))
def test_all_members_of_a_gzip_body_are_one_body(parts: list[bytes]) -> None:
    whole = b"".join(parts)

    assert inflated(b"".join(map(gzip.compress, parts)), len(whole)) == whole


@given(st.binary(max_size=50), st.data())
def test_a_broken_gzip_body_is_refused(content: bytes, data: st.DataObject) -> None:
    body = gzip.compress(content)
    cut = data.draw(st.integers(0, len(body) - 1))

    for broken in (body[:cut], body + b"x", zlib.compress(content), content):
        with pytest.raises(BadRequest) as caught:
            inflated(broken, 1000)
        assert caught.value.status == 400


def test_a_bomb_is_never_inflated_past_the_limit() -> None:
    bomb = gzip.compress(bytes(100_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(BadRequest) as caught:
            inflated(bomb, 1_000_000)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert caught.value.status == 413
    assert most < 4_000_000


def test_a_gzip_body_has_a_greatest_size_and_at_most_a_thousand_members() -> None:
    assert inflated(gzip.compress(bytes(1000)), 1000) == bytes(1000)
    assert inflated(gzip.compress(b"a") * 1000, 2000) == b"a" * 1000
    for body, most, status in ((gzip.compress(bytes(1000)), 999, 413), (gzip.compress(b"a") * 1001, 2000, 400)):
        with pytest.raises(BadRequest) as caught:
            inflated(body, most)
        assert caught.value.status == status
