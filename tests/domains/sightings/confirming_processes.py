"""Processes that confirm sightings until they are killed."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver, get_context
from multiprocessing.process import BaseProcess

from tests.domains.sightings.in_store import held_clock, store_of
from tests.left_open import lasting
from tests.processes import environment

_forking = get_context("forkserver")
_forking.set_forkserver_preload(["graph.cli", __name__])


@contextmanager
def confirming(store: str, sighting_ids: Sequence[str], users: Sequence[str]) -> Iterator[BaseProcess]:
    """Let a process confirm each sighting by each user, at the same time. It is killed at the end of the `with`."""
    with lasting():
        forkserver.ensure_running()
    process = _forking.Process(target=_run, args=(environment(), store, sighting_ids, users))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def _run(variables: Mapping[str, str], store: str, sighting_ids: Sequence[str], users: Sequence[str]) -> None:
    os.environ.clear()
    os.environ.update(variables)
    asyncio.run(_confirm(store, sighting_ids, users))


async def _confirm(store: str, sighting_ids: Sequence[str], users: Sequence[str]) -> None:
    async with store_of(store, held_clock()) as ours:
        confirm = ours.confirming.confirm
        await asyncio.gather(*[confirm(user, sighting_id) for user in users for sighting_id in sighting_ids])
        await asyncio.Event().wait()
