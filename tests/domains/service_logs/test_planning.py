"""The parts of a plan hold all matching logs, in order, and have a bounded number of logs."""

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.domains.service_logs.model import LogLevel, NewLog, ServiceLog
from graph.domains.service_logs.planning import Part, Plan
from graph.domains.service_logs.selection import LogSelection
from graph.domains.service_logs.volumes import Volumes
from tests.domains.service_logs.builders import DAY, NOON_NS, SECOND, Logs, a_log, service_logs
from tests.domains.service_logs.oracle import selects
from tests.domains.service_logs.strategies import DAYS_KEPT, batches, selections
from tests.effort import rounds

MINUTE = 60 * SECOND


async def parts_of(
    logs: Logs, selection: LogSelection, rows: int, wanted: int = 1, *, forward: bool = True
) -> list[Part]:
    plan = Plan(Volumes(logs.database), selection, rows)
    return [part async for part in plan.parts(wanted, forward=forward)]


def within(part: Part, log: ServiceLog) -> bool:
    first, last = part.slots
    return first <= round(log.timestamp * 1_000_000) <= last


@settings(max_examples=rounds(60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    batch=batches,
    selection=selections.filter(lambda selection: not {"", "\ud800", "x" * 65} & {*(selection.services or ())}),
    rows=st.integers(1, 12),
    wanted=st.integers(1, 5),
    forward=st.booleans(),
)
async def test_each_selected_log_is_in_one_part_and_the_parts_are_in_order(
    engine: str, batch: list[NewLog], selection: LogSelection, rows: int, wanted: int, forward: bool
) -> None:
    async with service_logs(engine, **DAYS_KEPT) as logs:
        await logs.write(*batch)
        stored = await logs.stored()

        parts = await parts_of(logs, selection, rows, wanted, forward=forward)

        for log in stored:
            holding = [part for part in parts if within(part, log)]
            assert len(holding) == 1 if selects(selection, log) else len(holding) <= 1
        assert all(a.last < b.first if forward else b.last < a.first for a, b in pairwise(parts))
        for part in parts:
            of_services = [log for log in stored if selection.services is None or log.service in selection.services]
            tested = [log for log in of_services if within(part, log)]
            matching = [log for log in tested if selects(selection, log)]
            assert len(matching) <= part.matches <= part.rows
            if selection.services is None and selection.types is not None:
                tested = [log for log in tested if log.log_type in selection.types]
            assert part.rows >= len(tested)
            # More than a part should have are in one minute, or are what the last of its periods has beside the others.
            assert part.rows < 2 * rows or part.last - part.first < 60 or _largest_minute(tested) > rows


def _largest_minute(logs: list[ServiceLog]) -> int:
    minutes = [int(log.timestamp) // 60 for log in logs]
    return max(map(minutes.count, minutes), default=0)


async def test_a_busy_day_is_divided_into_hours_and_a_busy_hour_into_minutes(engine: str) -> None:
    async with service_logs(engine) as logs:
        await logs.write(
            *[a_log(time_ns=NOON_NS + n * MINUTE, message=f"{n}") for n in range(5)],
            a_log(time_ns=NOON_NS - 60 * MINUTE),
            a_log(time_ns=NOON_NS - DAY),
        )
        noon = NOON_NS // SECOND
        hour, yesterday = noon - 3600, (noon // 86_400 - 1) * 86_400

        # A part promises one log, the next one two, and so on.
        assert await parts_of(logs, LogSelection(), 4) == [
            Part(yesterday, yesterday + 86_399, 1, 1),
            Part(hour, noon + 59, 2, 2),
            Part(noon + 60, noon + 299, 4, 4),
        ]
        # The same in reverse, where only a part's number of logs bounds it.
        assert await parts_of(logs, LogSelection(), 2, 100, forward=False) == [
            Part(noon + 180, noon + 299, 2, 2),
            Part(noon + 60, noon + 179, 2, 2),
            Part(hour, noon + 59, 2, 2),
            Part(yesterday, yesterday + 86_399, 1, 1),
        ]


async def test_a_time_range_that_begins_within_a_minute_has_the_rest_of_it(engine: str) -> None:
    async with service_logs(engine) as logs:
        await logs.write(*[a_log(time_ns=NOON_NS + n * SECOND, message=f"{n}") for n in range(100)])
        noon, first = NOON_NS // SECOND, NOON_NS // 1000 + 30_000_000

        of_rest = LogSelection(first=first, last=first + 40_000_000)
        assert await parts_of(logs, of_rest, 1000, 100) == [Part(noon + 30, noon + 70, 100, 100)]
        assert await parts_of(logs, of_rest, 50) == [
            Part(noon + 30, noon + 59, 60, 60),
            Part(noon + 60, noon + 70, 40, 40),
        ]


async def test_periods_without_a_log_of_the_level_are_passed_over(engine: str) -> None:
    async with service_logs(engine) as logs:
        await logs.write(*[a_log(time_ns=NOON_NS + n * MINUTE, message=f"{n}") for n in range(5)])
        await logs.write(a_log(time_ns=NOON_NS + 3 * MINUTE, message="error", severity=17))

        errors = LogSelection(levels=(LogLevel.ERROR,))
        start = NOON_NS // SECOND + 3 * 60
        assert await parts_of(logs, errors, 4, 100) == [Part(start, start + 59, 1, 2)]
        assert await parts_of(logs, LogSelection(levels=(LogLevel.DEBUG,)), 4) == []
