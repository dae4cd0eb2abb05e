"""What a record says of itself."""

from tests.domains.earthquakes.builders import an_event


def test_a_record_says_its_day_and_its_time() -> None:
    event = an_event(event_ts_ms=-1)
    assert (event.day_bucket, event.time.isoformat()) == ("19691231", "1969-12-31T23:59:59.999000+00:00")
    assert (event.position.time_ms, event.position.key) == (-1, "us7000abcd")
