"""Times of the documented keys are written for clients without being read."""

from hypothesis import given
from hypothesis import strategies as st

from graph.core.times import rfc3339
from graph.domains.sightings.iso import iso_of, time_of, written


@given(st.integers(0, 10**10 - 1))
def test_a_time_is_written_as_if_it_had_been_read(seconds: int) -> None:
    assert written(iso_of(seconds)) == rfc3339(time_of(iso_of(seconds)))
