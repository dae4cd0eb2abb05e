"""What a context keeps is freed with it. The garbage collector is off here: it runs seldom in the service."""

import asyncio
import gc
import weakref
from collections.abc import Sequence

import pytest

from graph.access.callers import Caller
from graph.api.context import Context
from graph.api.recording import Recording
from graph.core.clock import now_ms
from graph.core.paging import PageSizes
from graph.core.services import Services
from graph.observability.metrics import Metrics


class Loaded:
    """What a loader has read."""


async def load(context: Context, _: None, keys: Sequence[str]) -> list[Loaded]:
    assert context.page_sizes.most
    return [Loaded() for _ in keys]


async def test_what_loaders_have_read_is_freed_with_the_context(monkeypatch: pytest.MonkeyPatch) -> None:
    context = Context(
        services=Services(),
        recording=Recording(Metrics()),
        page_sizes=PageSizes(),
        clock=now_ms,
        caller=Caller(None, frozenset()),
        request_id="",
    )
    loaded = weakref.ref(await context.loader(load, None).load("key"))
    await asyncio.sleep(0)  # the loader's own task ends
    gc.collect()
    gc.disable()
    try:
        del context
        assert loaded() is None
    finally:
        gc.enable()
