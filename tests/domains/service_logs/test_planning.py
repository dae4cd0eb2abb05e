"""A day with many logs is read by its hours, an hour by its minutes, and no period without a matching log.

That the parts of a plan hold all matching logs is tested with the access patterns, and what they cost with the prices.
"""

from graph.domains.service_logs.model import LogLevel
from graph.domains.service_logs.planning import LogPlan, RangePart
from graph.domains.service_logs.selection import ServiceLogSelection
from graph.domains.service_logs.volumes import Volumes
from tests.domains.service_logs.builders import DAY, NOON_NS, SECOND, Logs, a_log, service_logs

MINUTE = 60 * SECOND


async def parts_of(
    logs: Logs, selection: ServiceLogSelection, rows: int, wanted: int = 1, *, forward: bool = True
) -> list[RangePart]:
    plan = LogPlan(Volumes(logs.database), selection, rows)
    return [part async for part in plan.parts(wanted, forward=forward)]


async def test_a_busy_day_is_divided_into_hours_and_a_busy_hour_into_minutes() -> None:
    async with service_logs("sqlite") as logs:
        await logs.write(
            *[a_log(time_ns=NOON_NS + n * MINUTE, message=f"{n}") for n in range(5)],
            a_log(time_ns=NOON_NS - 60 * MINUTE),
            a_log(time_ns=NOON_NS - DAY),
        )
        noon = NOON_NS // SECOND
        hour, yesterday = noon - 3600, (noon // 86_400 - 1) * 86_400

        # A part promises one log, the next one two, and so on.
        assert await parts_of(logs, ServiceLogSelection(), 4) == [
            RangePart(yesterday, yesterday + 86_399, 1, 1),
            RangePart(hour, noon + 59, 2, 2),
            RangePart(noon + 60, noon + 299, 4, 4),
        ]
        # The same in reverse, where only a part's number of logs bounds it.
        assert await parts_of(logs, ServiceLogSelection(), 2, 100, forward=False) == [
            RangePart(noon + 180, noon + 299, 2, 2),
            RangePart(noon + 60, noon + 179, 2, 2),
            RangePart(hour, noon + 59, 2, 2),
            RangePart(yesterday, yesterday + 86_399, 1, 1),
        ]

        await logs.write(a_log(time_ns=NOON_NS + 3 * MINUTE, message="error", severity=17))
        errors, debug = (ServiceLogSelection(levels=(level,)) for level in (LogLevel.ERROR, LogLevel.DEBUG))
        assert await parts_of(logs, errors, 4, 100) == [RangePart(noon + 180, noon + 239, 1, 2)]
        assert await parts_of(logs, debug, 4) == []


async def test_a_time_range_that_begins_within_a_minute_has_the_rest_of_it() -> None:
    async with service_logs("sqlite") as logs:
        await logs.write(*[a_log(time_ns=NOON_NS + n * SECOND, message=f"{n}") for n in range(100)])
        noon, first = NOON_NS // SECOND, NOON_NS // 1000 + 30_000_000

        of_rest = ServiceLogSelection(first=first, last=first + 40_000_000)
        assert await parts_of(logs, of_rest, 1000, 100) == [RangePart(noon + 30, noon + 70, 100, 100)]
        assert await parts_of(logs, of_rest, 50) == [
            RangePart(noon + 30, noon + 59, 60, 60),
            RangePart(noon + 60, noon + 70, 40, 40),
        ]
