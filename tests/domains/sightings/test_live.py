"""Subscribers get each change of the sightings that they want once, in order, from wherever they begin."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

from graph.domains.sightings.entities import CHANGES_IN_ORDER
from graph.domains.sightings.model import SightingChange, SightingChangeKind
from graph.feed.broadcast import SubscriberMessage
from tests.domains.sightings.in_store import ANNA, BEN, CARA, SightingStore, sightings
from tests.processes import TIMEOUT_S

REPORTED, CONFIRMED, HIDDEN = SightingChangeKind.REPORTED, SightingChangeKind.CONFIRMED, SightingChangeKind.HIDDEN


async def some(notices: AsyncIterator[SubscriberMessage[SightingChange]], number: int) -> list[SightingChange]:
    """The next changes, so many, of which none was dropped."""
    async with asyncio.timeout(TIMEOUT_S):
        taken = [await anext(notices) for _ in range(number)]
    changes = [notice.record for notice in taken if notice.record]
    assert [notice.cursor for notice in taken] == list(map(cursor_of, changes))
    return changes


def cursor_of(change: SightingChange) -> str:
    """Where a subscription begins that has seen a change."""
    return CHANGES_IN_ORDER.cursor_of(change.item)


def shown(changes: list[SightingChange]) -> list[tuple[SightingChangeKind, str]]:
    """What has happened to which sighting."""
    return [(change.kind, change.sighting_id) for change in changes]


async def all_changes(ours: SightingStore) -> list[int]:
    """The numbers of all changes."""
    return [change.number for change in await ours.changes.sequence.since(0, 1000)]


async def test_each_change_is_sent_once_in_the_order_of_storing(engine: str) -> None:
    async with sightings(engine, stream=True) as ours, aclosing(await ours.broadcast.changes(None, None)) as notices:
        fire = await ours.new(ANNA, "FIRE", lat=35.6, lon=-117.6)
        damage = await ours.new(BEN, "DAMAGE")
        await ours.confirm(BEN, fire)
        assert not (await ours.confirm(BEN, fire)).confirmed  # nothing has happened
        assert (await ours.report(CARA, "DAMAGE")).confirmed
        changes = await some(notices, 4)
        await ours.hide(CARA, fire.sighting_id, "No fire")
        changes += await some(notices, 1)

        assert shown(changes) == [
            (REPORTED, fire.sighting_id),
            (REPORTED, damage.sighting_id),
            (CONFIRMED, fire.sighting_id),
            (CONFIRMED, damage.sighting_id),
            (HIDDEN, fire.sighting_id),
        ]
        assert [change.number for change in changes] == [1, 2, 3, 4, 5] == await all_changes(ours)
        assert [change.sighting.confirmations for change in changes] == [0, 0, 1, 1, 1]
        assert changes[1].sighting == damage
        now = ours.clock() / 1000
        assert [change.sighting.is_active(now) for change in changes] == [True] * 4 + [False]


async def test_only_an_areas_and_a_categorys_changes_are_sent(engine: str) -> None:
    async with (
        sightings(engine, stream=True) as ours,
        aclosing(await ours.broadcast.changes("harbour", None)) as of_area,
        aclosing(await ours.broadcast.changes(None, "FIRE")) as of_category,
        aclosing(await ours.broadcast.changes("harbour", "FIRE")) as of_both,
    ):
        for area in ("Downtown", "Harbour"):
            for category in ("FIRE", "DAMAGE"):
                await ours.new(ANNA, category, area=area)
        assert [change.number for change in await some(of_area, 2)] == [3, 4]
        assert [change.number for change in await some(of_category, 2)] == [1, 3]
        assert [change.number for change in await some(of_both, 1)] == [3]
