"""No hostile request takes much memory, and none keeps what it took."""

import asyncio
import gc
import gzip
from pathlib import Path

import pytest

from graph.domains.otlp import wire
from graph.domains.otlp.formats import TooManyRecords
from tests.acceptance.memory import traced
from tests.domains.otlp.messages import JSON, PROTOBUF
from tests.domains.otlp.senders import answered, receiving
from tests.domains.otlp.test_attacks import TINY_RECORDS, TINY_VALUES


def test_tiny_records_and_values_are_refused_before_they_are_read(tmp_path: Path) -> None:
    with traced() as memory:
        with pytest.raises(TooManyRecords):
            asyncio.run(wire.groups(TINY_RECORDS))
        assert memory()[1] < 50_000_000
    with receiving(tmp_path) as sender:
        for body in TINY_VALUES:
            with traced() as memory:
                assert answered(sender.post(body, JSON)).status == 413
                assert memory()[1] < 30_000_000


def test_refused_bodies_are_freed_without_the_garbage_collector(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(100_000_000))
    with receiving(tmp_path) as sender:
        gc.disable()
        try:
            with traced() as memory:
                for _ in range(5):
                    assert answered(sender.post(bomb, PROTOBUF, content_encoding="gzip")).status == 413
                assert memory()[0] < 16_000_000
        finally:
            gc.enable()
