"""A hidden sighting is there no more, on any path and at once; who has hidden it and why is kept.

Wherever the store fails, nothing is half written, and whoever does not know tells it again without harm.
"""

import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from itertools import count
from typing import Any

import pytest

from graph.core.errors import BadUserInput, NotThere
from graph.domains.sightings.entities import AREA, CONFIRMATION, CONFIRMER, FELT_REPORTS, HIDING, SIGHTING
from graph.domains.sightings.model import Sighting
from graph.store.entity import Entity
from tests.domains.entities import everything_in
from tests.domains.sightings.counted import check_all, check_counts
from tests.domains.sightings.in_store import ANNA, BEN, CARA, SightingStore, sightings, sightings_of
from tests.domains.watches.cuts import Cut, Meanwhile, cut_off, either_way


async def test_who_has_hidden_what_and_why_is_stored_for_good_and_logged(
    engine: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with sightings(engine) as ours:
        sighting = await ours.new(ANNA)
        ours.later(5)
        with caplog.at_level(logging.INFO, "graph.domains.sightings.hiding"):
            await ours.hide(CARA, sighting.sighting_id, "Names a person")

        ours.later(400 * 86_400)
        assert await ours.items(HIDING) == [
            {
                "sightingId": sighting.sighting_id,
                "userId": CARA,
                "reason": "Names a person",
                "hiddenAt": "2100-03-02T12:00:05Z",
            }
        ]
    (record,) = [each for each in caplog.records if each.name == "graph.domains.sightings.hiding"]
    assert (record.levelname, record.getMessage()) == ("INFO", "A sighting is hidden")
    assert vars(record)["keywords"] == {
        "sighting_id": sighting.sighting_id,
        "moderator_id": CARA,
        "reason": "Names a person",
    }


async def test_what_was_hidden_counts_for_no_tier_and_its_confirmations_are_gone_with_it(engine: str) -> None:
    async with sightings(engine) as ours:
        kept, hidden = await ours.new(ANNA), await ours.new(ANNA, area="Elsewhere")
        for sighting, user in ((kept, BEN), (hidden, BEN), (hidden, CARA)):
            await ours.confirm(user, sighting)
        await ours.hide(CARA, hidden.sighting_id, "Spam")

        profile = await ours.profile(ANNA)
        assert (profile.reports, profile.confirmations_received) == (1, 1)
        assert [item["sightingId"] for item in await ours.items(CONFIRMATION)] == [kept.sighting_id]


async def test_a_sighting_that_is_not_there_cannot_be_hidden_or_confirmed(caplog: pytest.LogCaptureFixture) -> None:
    async with sightings("sqlite") as ours:
        hidden, expired = await ours.new(ANNA), await ours.new(ANNA, area="Elsewhere")
        await ours.hide(CARA, hidden.sighting_id, "Spam")
        ours.later(1800)
        stored = await everything_in(ours.database)
        caplog.clear()
        unknown = "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"
        for each in (hidden.sighting_id, expired.sighting_id, unknown, "", "\x00", "x" * 5000, "\ud800"):
            for act in (ours.hide(CARA, each, "Again"), ours.confirming.confirm(BEN, each)):
                with pytest.raises(NotThere, match="There is no active sighting"):
                    await act
        assert await everything_in(ours.database) == stored
        assert not caplog.records


async def test_a_reason_has_bounds() -> None:
    async with sightings("sqlite") as ours:
        sighting = await ours.new(ANNA)
        for reason in ("", " ", "x" * 281, "<b>", "a\x1b[2J", "\ud800"):
            with pytest.raises(BadUserInput):
                await ours.hide(CARA, sighting.sighting_id, reason)
        assert await ours.ids() == [sighting.sighting_id]
        await ours.hide(CARA, sighting.sighting_id, "x" * 280)
        assert await ours.ids() == []


def reads(of: Entity, method: str, asked: Any) -> bool:
    """Whether a call of the store reads items of an entity."""
    return method in ("get", "query") and asked.entity is of


async def report_later(ours: SightingStore, *_: Sighting) -> None:
    ours.later(60)
    await ours.new(ANNA, "OTHER")


ACTS: dict[str, Callable[[SightingStore, Sighting, Sighting], Coroutine[Any, Any, object]]] = {
    "report": lambda ours, *_: ours.new(BEN, "DAMAGE"),
    "report later": report_later,
    "confirm": lambda ours, _, sighting: ours.confirm(BEN, sighting),
    "confirm other": lambda ours, other, _: ours.confirm(CARA, other),
    "hide": lambda ours, _, sighting: ours.hide(CARA, sighting.sighting_id, "Spam"),
    "hide other": lambda ours, other, _: ours.hide(CARA, other.sighting_id, "No fire"),
}
"""What is written, of the only other sighting and of the latest one."""

RACES = (
    *(("hide", SIGHTING, meanwhile) for meanwhile in ("report", "confirm", "confirm other", "hide other")),
    *((writes, AREA, "hide") for writes in ("report", "confirm other")),
    ("report", AREA, "report later"),
)
"""What is written, what it has read when something else happens, and that."""


async def test_of_two_writes_at_once_both_happen_and_the_area_lasts_as_long_as_its_sightings(engine: str) -> None:
    for writes, of, meanwhile in RACES:
        async with sightings(engine) as ours:
            other = await ours.new(BEN, "FIRE")
            ours.later(60)
            sighting = await ours.new(ANNA)
            happen, read = partial(ACTS[meanwhile], ours, other, sighting), partial(reads, of)
            database = Meanwhile(ours.database, happen, read, after=True)
            async with sightings_of(database, ours.clock) as writing:
                await ACTS[writes](writing, other, sighting)
            both = {writes, meanwhile}
            assert (await ours.one(sighting) is None) == ("hide" in both), both
            assert (await ours.one(other) is None) == ("hide other" in both), both
            reported = sum(act.startswith("report") for act in both)
            assert len(await ours.ids()) == 2 + reported - sum(act.startswith("hide") for act in both), both
            await check_counts(ours)


ANSWERS = {"felt": 1.0, "motion": 3.0}


async def broken_off(
    ours: SightingStore, way: str, act: Callable[[SightingStore, int], Coroutine[Any, Any, None]]
) -> AsyncIterator[int]:
    """Let something break off at its first call of the store, then at its second, and so on, until it ends.

    Yields its number after each, from 1 on.
    """
    database = Cut(ours.database, way)
    for number in count(1):
        database.left = number
        async with sightings_of(database, ours.clock) as cut:
            await cut_off(act(cut, number))
        broke_off, database.left = database.left <= 0, 0
        await check_counts(ours)
        yield number
        if not broke_off:
            break
    assert number > 4


async def report(ours: SightingStore, user_id: str, place: int = 0) -> None:
    """Report something with all its parts, at one of many places."""
    await ours.report(user_id, area="Town", lat=35 + place / 10, lon=-117.0, text="Smoke", answers=ANSWERS)


async def people(ours: SightingStore) -> int:
    """How many people's answers are counted."""
    return sum([item["reports"] for item in await ours.items(FELT_REPORTS)])


@either_way
async def test_a_report_that_breaks_off_at_any_call_can_be_repeated(engine: str, way: str) -> None:
    async with sightings(engine) as ours:
        async for number in broken_off(ours, way, lambda cut, number: report(cut, f"user{number}", number)):
            stored = len(await ours.ids())
            assert stored in (number - 1, number)
            assert await people(ours) == stored

            await report(ours, f"user{number}", number)
            assert len(await ours.ids()) == await people(ours) == number
            await check_all(ours)


@either_way
async def test_a_repeated_report_that_breaks_off_at_any_call_can_be_repeated(engine: str, way: str) -> None:
    async with sightings(engine) as ours:
        await report(ours, ANNA)
        async for number in broken_off(ours, way, lambda cut, number: report(cut, f"user{number}")):
            assert len(await ours.items(CONFIRMER)) in (number - 1, number)

            await report(ours, f"user{number}")
            (sighting,) = (await ours.page()).records
            assert sighting.confirmations == len(await ours.items(CONFIRMER)) == number
            assert await people(ours) == number + 1
            await check_all(ours)


@either_way
async def test_a_hiding_that_breaks_off_at_any_call_can_be_repeated(engine: str, way: str) -> None:
    async with sightings(engine) as ours:
        new: list[Sighting] = []

        async def hide(cut: SightingStore, number: int) -> None:
            new.append(await ours.new(ANNA, area=f"Town {number}"))  # whole, and so is its confirmation
            await ours.confirm(BEN, new[-1])
            await cut.hide(CARA, new[-1].sighting_id, "Spam")

        async for number in broken_off(ours, way, hide):
            if await ours.one(new[-1]):
                await ours.hide(CARA, new[-1].sighting_id, "Spam")
            with pytest.raises(NotThere):
                await ours.hide(CARA, new[-1].sighting_id, "Spam")
            await check_counts(ours)
            assert await ours.ids() == []
            assert len(await ours.items(HIDING)) == number
            assert (await ours.profile(ANNA)).reports == 0
