"""Many requests over one socket that ask for much work: what they take of the memory of a process."""

import asyncio
from collections import Counter
from pathlib import Path

import httpx

from tests.acceptance.memory import peak
from tests.attacks.dense import fill
from tests.attacks.test_hostile_work import GUARD_S, HALF_EARTH
from tests.processes import serving
from tests.subscribers import Socket, initialised

MOST_GROWTH_KIB = 64 * 1024


async def test_heavy_totals_over_one_socket_take_no_memory_and_refuse_no_other(tmp_path: Path) -> None:
    await asyncio.to_thread(fill, tmp_path / "dense.db", 30_000)
    store = ("--store", "sqlite:///dense.db")
    with serving(*store, folder=tmp_path, settings={"GRAPH_MAX_COST": "10000"}) as server:
        server.ask(f"{{ events(first: 1, filter: {{{HALF_EARTH}}}) {{ totalCount }} }}")
        before = peak(server.process.pid)
        total = f"events(first: 1, filter: {{{HALF_EARTH}}}) {{ totalCount }}"
        query = "{" + " ".join(f"a{number}: {total}" for number in range(10)) + "}"
        codes: Counter[str] = Counter()

        async def attack(attacker: Socket) -> None:
            """Ask for all at once, and read the answers."""
            for number in range(50):
                await attacker.ask(str(number), query)
            ended = 0
            while ended < 50:
                message = await attacker.next_message()
                ended += message["type"] in ("complete", "error")
                payload = message.get("payload") or {}
                errors = payload.get("errors", []) if message["type"] == "next" else payload
                codes.update(error["extensions"]["code"] for error in errors or [{"extensions": {"code": "OK"}}])

        lookups = []
        async with (
            initialised(server.url.removesuffix("/graphql")) as attacker,
            httpx.AsyncClient(timeout=GUARD_S) as other,
        ):
            attacking = asyncio.create_task(attack(attacker))
            while not attacking.done():
                answer = await other.post(server.url, json={"query": '{ event(eventId: "d00001") { mag } }'})
                lookups.append(answer.json().get("data"))
            await attacking
        grown = peak(server.process.pid) - before

    assert codes.keys() <= {"OK", "OVERLOADED", "QUERY_TOO_COMPLEX"}, codes
    assert codes["OVERLOADED"], "one caller may not have so many heavy operations at the same time"
    assert codes["QUERY_TOO_COMPLEX"], "ten totals over half the earth are more than one operation may read"
    assert lookups
    assert all(data["event"] for data in lookups), "other requests were answered meanwhile"
    assert grown < MOST_GROWTH_KIB, f"it took {grown:,} KiB"
