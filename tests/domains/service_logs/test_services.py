"""The services that write logs are known from their first log on, up to their greatest number."""

import asyncio

from graph.domains.service_logs.entities import LOGGING_SERVICE
from graph.domains.service_logs.model import LogProblem, WriteReport
from graph.domains.service_logs.services import KNOWN_MS
from tests.domains.service_logs.builders import NOON, a_log, held_clock, is_consistent, logs_of, service_logs
from tests.work.accounts import an_account


async def test_one_service_more_than_the_most_is_rejected_and_the_known_ones_go_on(engine: str) -> None:
    async with service_logs(engine, max_services=2) as logs:
        report = await logs.writer.write([a_log("c"), a_log("a"), a_log("b"), a_log("a", message="more"), a_log("c")])
        assert (report.accepted, [(each.index, each.code) for each in report.rejections]) == (
            3,
            [(0, LogProblem.TOO_MANY_SERVICES), (4, LogProblem.TOO_MANY_SERVICES)],
        )

        other = logs_of(logs.database, clock=held_clock(), max_services=2)  # of another process
        for number, process in enumerate((logs, other)):
            assert await process.write(a_log("b", message=f"later {number}")) == WriteReport(1, 0, ())
            (rejection,) = (await process.writer.write([a_log("d")])).rejections
            assert rejection.code is LogProblem.TOO_MANY_SERVICES
        assert [service.name for service in await logs.services.all()] == ["a", "b"]
        assert {log.service for log in await logs.stored()} == {"a", "b"}
        assert [service.name for service in await logs.services.named(["a", "a", "c", "", "x" * 65, "\ud800"])] == ["a"]
        assert await logs.services.named([]) == []
        assert await is_consistent(logs)


async def test_one_sender_adds_half_of_the_services_at_most_and_a_forgotten_one_makes_room(engine: str) -> None:
    async with service_logs(engine, max_services=4) as logs:
        clock = held_clock()
        process = logs_of(logs.database, clock=clock, max_services=4)

        async def refused(caller: str, *names: str) -> list[str]:
            with an_account(caller=caller):
                report = await process.writer.write([a_log(name) for name in names])
            assert {each.code for each in report.rejections} <= {LogProblem.TOO_MANY_SERVICES}
            return [names[each.index] for each in report.rejections]

        assert await refused("anna", "a1", "a2", "a3") == ["a3"]
        assert await refused("ben", "a1", "b1") == []  # a known service is anybody's
        assert await refused("anna", "a4", "a1") == ["a4"]

        assert await logs.services.forget(["a1", "unknown"]) == ["a1"]  # by another process
        clock.now += KNOWN_MS
        assert await refused("anna", "a4") == []
        assert await refused("anna", "a1") == ["a1"]
        assert [service.name for service in await logs.services.all()] == ["a2", "a4", "b1"]
        assert "a1" in {log.service for log in await logs.stored()}


async def test_the_service_itself_and_commands_may_add_all_services(engine: str) -> None:
    async with service_logs(engine, max_services=3) as logs:
        for name in ("a", "b", "c"):
            await logs.write(a_log(name))
        assert [service.name for service in await logs.services.all()] == ["a", "b", "c"]


async def test_a_service_is_known_as_spread_from_the_first_hot_log_on_and_ever_after(engine: str) -> None:
    async with service_logs(engine) as logs:
        await logs.write(a_log(message="before"))
        assert not (await logs.services.all())[0].is_spread

        hot = logs_of(logs.database, clock=held_clock(), hot_services=("checkout", "unused"))
        await hot.write(a_log(message="hot"))
        (service,) = await logs.services.all()
        assert service.is_spread
        every = ["checkout", *[f"checkout#{n}" for n in range(10)]]
        assert await logs.services.partitions(["checkout"]) == {"checkout": every}

        again = logs_of(logs.database, clock=held_clock())
        await again.write(a_log(message="after"))
        assert await again.services.forget(["checkout"]) == []  # or else nothing found the logs that are spread
        assert await again.services.all() == [service]
        assert await logs.messages() == ["before", "hot", "after"]


async def test_the_logs_of_a_hot_service_are_spread_evenly(engine: str) -> None:
    async with service_logs(engine, hot_services=("checkout",)) as logs:
        await logs.write(*[a_log(message=f"{n}") for n in range(300)])

        partitions = [log.service_name for log in await logs.stored()]
        assert {partitions.count(f"checkout#{n}") for n in range(10)} <= set(range(28, 33))


async def test_processes_that_store_the_same_service_at_once_store_it_once(engine: str) -> None:
    async with service_logs(engine) as logs:
        others = [logs_of(logs.database, clock=held_clock(), hot_services=("a",) if n % 2 else ()) for n in range(4)]
        await asyncio.gather(*[each.services.ensure({"a"}) for each in others])

        items = [item async for item in logs.database.scan(LOGGING_SERVICE)]
        assert items == [{"service": "a", "since": NOON, "is_spread": True}]
