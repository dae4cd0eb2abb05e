"""Processes that share a Redis share what a caller may spend, and none waits for a Redis that is gone or hangs."""

import asyncio
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path

import coredis
import pytest

from graph.core.errors import RateLimited
from tests.access.test_rate import LIMIT, allowed, limited
from tests.children import Child
from tests.ports import reserved_port
from tests.processes import TIMEOUT_S
from tests.steps import done

pytestmark = pytest.mark.needs("redis-server")


@contextmanager
def redis(folder: Path, port: int) -> Iterator[Child[str]]:
    """A Redis on that port of this machine."""
    program = shutil.which("redis-server")
    assert program is not None
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with Child(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            while "Ready to accept connections" not in process.stdout.readline():
                assert process.poll() is None
            yield process
        finally:
            process.kill()


@pytest.fixture
def port() -> Iterator[int]:
    """Where a Redis may listen."""
    with reserved_port() as number:
        yield number


async def test_processes_that_share_a_store_share_what_a_caller_has(
    tmp_path: Path, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    here, there = limited(f"redis://127.0.0.1:{port}"), limited(f"redis://127.0.0.1:{port}")
    with redis(tmp_path, port):
        assert await allowed(here, "a", 700)
        assert not await allowed(there, "a", 900)
        assert await allowed(there, "b", 900)

    # It is gone: all callers pass, which is logged once.
    caplog.clear()
    for _ in range(3):
        assert await allowed(here, "a", 900)
    assert caplog.text.count("all callers pass") == 1

    with redis(tmp_path, port):
        assert await allowed(here, "a", 900)
        assert not await allowed(here, "a", 900)
    assert caplog.text.count("answers again") == 1


@pytest.mark.parametrize(("points", "seconds"), [(1, 60), (300, 78), (LIMIT, 120)])
async def test_a_caller_that_waits_for_retry_after_is_let_through(
    tmp_path: Path, port: int, points: int, seconds: int
) -> None:
    """Redis begins a caller's minute with their first request; here it ages by having its keys expire earlier."""
    each = limited(f"redis://127.0.0.1:{port}")
    with redis(tmp_path, port):
        begun = time.monotonic()
        await done(each.spend("a", LIMIT))
        with pytest.raises(RateLimited) as told:
            await done(each.spend("a", points))
        wait = told.value.retry_after_s
        assert seconds - ceil(time.monotonic() - begun) <= wait <= seconds

        await _age(port, wait // 2)
        assert not await allowed(each, "a", points)
        await _age(port, wait - wait // 2)
        assert await allowed(each, "a", points)


async def _age(port: int, seconds: int) -> None:
    """Have everything in a Redis be so much older."""
    client = coredis.Redis(port=port)
    for key in await client.keys():
        await client.pexpire(key, await client.pttl(key) - 1000 * seconds)  # which removes what is older than it may be
    client.connection_pool.disconnect()


async def test_a_rate_store_that_hangs_blocks_no_request(tmp_path: Path, port: int) -> None:
    each = limited(f"redis://127.0.0.1:{port}")
    with redis(tmp_path, port) as process:
        await done(each.spend("a", LIMIT))
        process.send_signal(signal.SIGSTOP)
        async with asyncio.timeout(TIMEOUT_S):
            assert await allowed(each, "a", LIMIT)
