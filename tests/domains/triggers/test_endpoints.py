"""Endpoints: their limit, their secrets, and changes that come at the same time."""

import asyncio
import re
from base64 import b64decode
from typing import Any

import pytest

from graph.core.errors import TooMany
from graph.core.paging import Paging
from graph.domains.triggers.endpoints import EndpointChanges, disabled
from graph.domains.triggers.errors import Conflict
from graph.domains.triggers.model import EndpointDisabledReason, EndpointState
from graph.store.ordering import PageRequest
from tests.domains.triggers.in_store import ANNA, BEN, NOON, URL, triggers

NO_ID = "x" * 36


async def test_no_more_endpoints_than_the_limit_are_created_and_a_deleted_one_makes_room_once(engine: str) -> None:
    async with triggers(engine, most_endpoints=5) as ours:
        created = await asyncio.gather(*[ours.endpoint() for _ in range(12)], return_exceptions=True)
        refused = [each for each in created if isinstance(each, BaseException)]
        assert [(type(each), getattr(each, "code", "")) for each in refused] == [(TooMany, "TOO_MANY")] * 7
        (first, *_) = there = (await ours.endpoints.of_users([ANNA, BEN]))[ANNA]
        assert len(there) == 5
        await ours.endpoint(BEN)

        deleted = [ours.endpoints.delete(ANNA, first.endpoint_id) for _ in range(4)]
        answers = await asyncio.gather(*deleted, return_exceptions=True)
        assert sorted(type(each).__name__ for each in answers) == ["NoneType", "NotThere", "NotThere", "NotThere"]
        ours.clock.now += 1
        newest = await ours.endpoint()
        with pytest.raises(TooMany):
            await ours.endpoint()
        listed = [each.endpoint_id for each in (await ours.endpoints.page(ANNA, PageRequest(Paging(5)))).records]
        assert listed == [*(each.endpoint_id for each in there[1:]), newest.endpoint_id]  # oldest first


async def test_a_secret_is_of_standard_webhooks_and_signs_for_a_while_beside_its_successor() -> None:
    async with triggers("sqlite") as ours:
        endpoint, secret = await ours.endpoints.create(ANNA, URL, EndpointChanges())
        assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret)
        assert len(b64decode(secret.removeprefix("whsec_"))) == 32
        assert endpoint.secrets(NOON) == (secret,)

        rotated, successor = await ours.endpoints.rotate_secret(ANNA, endpoint.endpoint_id, 1000)
        assert rotated.secrets(NOON + 999) == (successor, secret)
        assert rotated.secrets(NOON + 1000) == (successor,)
        at_once, third = await ours.endpoints.rotate_secret(ANNA, endpoint.endpoint_id, 0)
        assert at_once.secrets(NOON) == (third,)
        assert len({secret, successor, third}) == 3


async def test_changes_at_the_same_time_are_all_made(engine: str) -> None:
    async with triggers(engine) as ours:
        endpoint = await ours.endpoint()
        changes: list[Any] = [
            ours.endpoints.update(ANNA, endpoint.endpoint_id, EndpointChanges(description="Mine")),
            ours.endpoints.update(ANNA, endpoint.endpoint_id, EndpointChanges(types=["a"])),
            ours.endpoints.update(ANNA, endpoint.endpoint_id, EndpointChanges(ordered=True)),
            ours.endpoints.pause(ANNA, endpoint.endpoint_id),
        ]
        await asyncio.gather(*changes)
        changed = await ours.endpoints.one(ANNA, endpoint.endpoint_id)
        assert (changed.description, changed.types, changed.ordered) == ("Mine", ["a"], True)
        assert (changed.state, changed.item["revision"]) == (EndpointState.PAUSED, 5)


async def test_a_disabled_endpoint_is_resumed_but_neither_paused_nor_tested(engine: str) -> None:
    async with triggers(engine) as ours:
        endpoint = await ours.endpoint()
        assert await ours.database.update(disabled(endpoint, EndpointDisabledReason.GONE))
        assert not await ours.database.update(
            disabled(endpoint, EndpointDisabledReason.FAILING)
        )  # it has changed since it was read
        stored = await ours.endpoints.one(ANNA, endpoint.endpoint_id)
        assert (stored.state, stored.reason, stored.is_open) == (
            EndpointState.DISABLED,
            EndpointDisabledReason.GONE,
            False,
        )
        for refused in (ours.endpoints.pause, ours.endpoints.enabled):
            with pytest.raises(Conflict):
                await refused(ANNA, endpoint.endpoint_id)

        resumed = await ours.endpoints.resume(ANNA, endpoint.endpoint_id)
        assert (resumed.state, resumed.reason) == (EndpointState.ENABLED, None)
        queue = await ours.queue(endpoint)
        assert (queue["failures"], queue["open_until"], queue["due"]) == (0, 0, NOON)
