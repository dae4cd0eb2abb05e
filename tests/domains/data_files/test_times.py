"""Times of the table are written for clients without being read."""

from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from graph.core.times import rfc3339
from graph.domains.data_files.times import time_of, time_text, written


@given(st.datetimes(timezones=st.just(UTC)))
@example(datetime(2024, 1, 1, tzinfo=UTC))
@example(datetime.min.replace(tzinfo=UTC))
@example(datetime.max.replace(tzinfo=UTC))
@example(datetime(2024, 1, 1, microsecond=1, tzinfo=UTC))
def test_a_time_is_written_as_if_it_had_been_read(time: datetime) -> None:
    text = time_text(time)

    assert time_of(text) == time
    assert written(text) == rfc3339(time)
