"""All foreign items of a table are adopted at once, on each engine, as tests of domains do it."""

from graph.core.services import Services
from graph.feed.adoption import ITEMS_AT_ONCE, adopt_all
from graph.store.contract import Put
from tests.feed.foreign_notes import ADOPTION, ENTITIES, NOTE, Desk, a_note
from tests.store.engines import empty_database


async def test_only_foreign_items_are_adopted_some_at_once(engine: str) -> None:
    ids = [f"foreign{at:03}" for at in range(2 * ITEMS_AT_ONCE + 1)]
    async with empty_database(engine, ENTITIES) as database:
        desk = Desk(database)
        await database.put_many([Put(NOTE, a_note(id_)) for id_ in ids])
        await database.put_many([Put(NOTE, a_note("own", change=7))])

        await adopt_all(Services([desk]), database, [ADOPTION])
        await adopt_all(Services([desk]), database, [ADOPTION])

        assert sorted(desk.adopted) == ids
        assert [len(some) for some in desk.handed_over] == [ITEMS_AT_ONCE, ITEMS_AT_ONCE, 1]
        assert await database.get(NOTE.key_for("own")) == a_note("own", change=7)
