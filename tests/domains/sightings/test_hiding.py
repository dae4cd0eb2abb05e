"""A hidden sighting is there no more, on any path and at once; who has hidden it and why is kept."""

import logging
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from graph.access.callers import Scope
from graph.core.errors import BadUserInput, NotThere
from graph.domains.sightings.entities import AREA, HIDING, SIGHTING
from graph.domains.sightings.scopes import SIGHTINGS_MODERATE, SIGHTINGS_READ, SIGHTINGS_WRITE
from graph.store.contract import Database
from graph.store.entity import Entity, Item, Key
from graph.store.query import Page, Query
from tests.bearers import bearer
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.domains.entities import everything_in
from tests.domains.sightings.counted import check_counts
from tests.domains.sightings.in_store import (
    ANNA,
    BEN,
    CARA,
    held_clock,
    sightings,
    sightings_of,
)
from tests.service import Service, running
from tests.settings import Settings

T = TypeVar("T")


async def test_who_has_hidden_what_and_why_is_stored_for_good_and_logged(
    engine: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with sightings(engine) as ours:
        sighting = await ours.new(ANNA)
        ours.later(5)
        with caplog.at_level(logging.INFO, "graph.domains.sightings.hiding"):
            await ours.hiding.hide(CARA, sighting.sighting_id, "Names a person")

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


async def test_a_sighting_that_is_not_there_cannot_be_hidden_or_confirmed(caplog: pytest.LogCaptureFixture) -> None:
    async with sightings("sqlite") as ours:
        hidden, expired = await ours.new(ANNA), await ours.new(ANNA, area="Elsewhere")
        await ours.hiding.hide(CARA, hidden.sighting_id, "Spam")
        ours.later(1800)
        stored = await everything_in(ours.database)
        caplog.clear()
        unknown = "01930c5f-7a3e-7cc4-98a5-3f0d6d1c2b7e"
        for each in (hidden.sighting_id, expired.sighting_id, unknown, "", "\x00", "x" * 5000, "\ud800"):
            for act in (ours.hiding.hide(CARA, each, "Again"), ours.confirming.confirm(BEN, each)):
                with pytest.raises(NotThere, match="There is no active sighting"):
                    await act
        assert await everything_in(ours.database) == stored
        assert not caplog.records


async def test_a_reason_has_bounds() -> None:
    async with sightings("sqlite") as ours:
        sighting = await ours.new(ANNA)
        for reason in ("", " ", "x" * 281, "<b>", "a\x1b[2J", "\ud800"):
            with pytest.raises(BadUserInput):
                await ours.hiding.hide(CARA, sighting.sighting_id, reason)
        assert await ours.ids() == [sighting.sighting_id]
        await ours.hiding.hide(CARA, sighting.sighting_id, "x" * 280)
        assert await ours.ids() == []


class Overtaken(WatchedDatabase):
    """Once it has read an area, or an area's sightings, something else happens."""

    def __init__(self, database: Database, of: Entity, meanwhile: Callable[[], Awaitable[object]]) -> None:
        super().__init__(database)
        self._of = of
        self._meanwhile = iter([meanwhile])

    async def get(self, key: Key, **options: Any) -> Item | None:
        return await self._behind(key.entity, super().get(key, **options))

    async def query(self, query: Query) -> Page:
        return await self._behind(query.entity, super().query(query))

    async def _behind(self, entity: Entity, reading: Coroutine[Any, Any, T]) -> T:
        read = await reading
        if entity is self._of:
            for meanwhile in self._meanwhile:
                await meanwhile()
        return read


@pytest.mark.parametrize("meanwhile", ["reported", "confirmed", "hidden"])
async def test_an_area_stays_as_long_as_what_happens_while_a_sighting_is_hidden(meanwhile: str) -> None:
    async with sightings("sqlite") as ours:
        other = await ours.new(BEN, "FIRE")
        ours.later(60)
        sighting = await ours.new(ANNA)

        async def happens() -> None:
            if meanwhile == "reported":
                await ours.new(BEN, "DAMAGE")
            elif meanwhile == "confirmed":
                await ours.confirm(CARA, other)
            else:
                await ours.hiding.hide(CARA, other.sighting_id, "No fire")

        async with sightings_of(Overtaken(ours.database, SIGHTING, happens), ours.clock) as hiding:
            await hiding.hiding.hide(CARA, sighting.sighting_id, "Spam")
        await check_counts(ours)


@pytest.mark.parametrize("written", ["reported", "confirmed"])
async def test_an_area_that_ends_earlier_meanwhile_lasts_as_long_as_what_is_written(written: str) -> None:
    async with sightings("sqlite") as ours:
        other = await ours.new(BEN, "FIRE")
        ours.later(60)
        sighting = await ours.new(ANNA)

        async def hides() -> None:
            await ours.hiding.hide(CARA, sighting.sighting_id, "Spam")

        async with sightings_of(Overtaken(ours.database, AREA, hides), ours.clock) as writing:
            if written == "reported":
                await writing.new(BEN, "DAMAGE")
            else:
                await writing.confirm(CARA, other)
        assert await ours.one(sighting) is None
        await check_counts(ours)


async def test_an_area_that_ends_later_meanwhile_does_not_end_earlier_again() -> None:
    async with sightings("sqlite") as ours:
        await ours.new(BEN, "FIRE")
        ours.later(60)

        async def reports_later() -> None:
            ours.later(60)
            await ours.new(ANNA)

        async with sightings_of(Overtaken(ours.database, AREA, reports_later), ours.clock) as writing:
            await writing.new(BEN, "DAMAGE")
        assert len(await ours.ids()) == 3
        await check_counts(ours)


async def test_a_sighting_that_is_confirmed_while_it_is_hidden_is_hidden(engine: str) -> None:
    class Confirmed(WatchedDatabase):
        """Somebody confirms before the first transaction."""

        confirmed = False

        async def transact(self, actions: Any) -> tuple[int, ...]:
            if not self.confirmed:
                self.confirmed = True
                await ours.confirm(BEN, sighting)
            return await super().transact(actions)

    async with sightings(engine) as ours:
        sighting = await ours.new(ANNA)
        ours.later(100)
        async with sightings_of(Confirmed(ours.database), ours.clock) as hiding:
            await hiding.hiding.hide(CARA, sighting.sighting_id, "Spam")
        assert await ours.ids() == []
        await check_counts(ours)


REPORT = 'mutation { reportSighting(input: {category: FIRE, area: "Town"}) { sighting { id sightingId } } }'
HIDE = 'mutation($id: ID!) { hideSighting(input: {id: $id, reason: "No fire"}) { sightingId } }'


def ask(service: Service, query: str, *scopes: Scope, **variables: Any) -> Any:
    """The answer to a caller with these scopes."""
    body = {"query": query, "variables": variables}
    return service.http.post("/graphql", json=body, headers=bearer(*scopes, subject=CARA)).json()


def test_only_moderators_hide_over_http(tmp_path: Path) -> None:
    with running(Settings(store=f"sqlite:///{tmp_path / 'hide.db'}"), clock=held_clock()) as service:
        sighting = ask(service, REPORT, SIGHTINGS_WRITE)["data"]["reportSighting"]["sighting"]
        shown = "query($id: ID!) { sighting(id: $id) { sightingId } node(id: $id) { id } }"
        for scopes in ([SIGHTINGS_READ], [SIGHTINGS_READ, SIGHTINGS_WRITE]):
            refused = ask(service, HIDE, *scopes, id=sighting["id"])
            assert [error["extensions"]["code"] for error in refused["errors"]] == ["FORBIDDEN"]
        assert ask(service, shown, SIGHTINGS_READ, id=sighting["id"])["data"] == {
            "sighting": {"sightingId": sighting["sightingId"]},
            "node": {"id": sighting["id"]},
        }

        hidden = ask(service, HIDE, SIGHTINGS_MODERATE, id=sighting["id"])
        assert hidden == {"data": {"hideSighting": {"sightingId": sighting["sightingId"]}}}
        assert ask(service, shown, SIGHTINGS_READ, id=sighting["id"])["data"] == {"sighting": None, "node": None}
        again = ask(service, HIDE, SIGHTINGS_MODERATE, id=sighting["sightingId"])
        assert [error["extensions"]["code"] for error in again["errors"]] == ["NOT_FOUND"]
