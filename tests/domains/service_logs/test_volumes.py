"""The bounds of volumes. That they equal a count of all logs is tested with the access patterns."""

import pytest

from graph.core.errors import BadUserInput
from graph.domains.service_logs.model import LogLevel
from graph.domains.service_logs.volumes import MOST_PERIODS, LogInterval, LogVolume, VolumeBy, Volumes
from tests.domains.service_logs.builders import NOON_NS, SECOND, a_log, service_logs

NOON_S = NOON_NS // SECOND


async def test_a_volume_of_more_numbers_than_it_may_have_is_refused(engine: str) -> None:
    async with service_logs(engine) as logs:
        await logs.write(a_log(severity=9), a_log(severity=9, message="too"), a_log("search", severity=17))
        by_level = [LogVolume(NOON_S, 2, level=LogLevel.INFO), LogVolume(NOON_S, 1, level=LogLevel.ERROR)]
        wanted = LogInterval.MINUTE, VolumeBy.LEVEL, NOON_S, NOON_S + 59

        found = await Volumes(logs.database, most_counts=2).volume(*wanted)
        with pytest.raises(BadUserInput, match="at most 1 numbers: choose a longer `interval`"):
            await Volumes(logs.database, most_counts=1).volume(*wanted)

    assert sorted(found, key=str) == sorted(by_level, key=str)


async def test_a_volume_of_more_periods_than_it_may_have_is_refused() -> None:
    async with service_logs("sqlite") as logs:
        for interval in LogInterval:
            first = interval.start_of(NOON_S)
            last = first + MOST_PERIODS * interval.value - 1
            assert await logs.read.volume(interval, VolumeBy.TYPE, first, last) == []
            with pytest.raises(BadUserInput, match="at most 10,000 periods"):
                await logs.read.volume(interval, VolumeBy.TYPE, first, last + 1)
