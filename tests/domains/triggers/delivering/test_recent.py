"""What an index may not show yet."""

from graph.domains.triggers.delivering.recent import LAG_MS, RecentRetries

NOW = 1_691_031_133_000
ONE, OTHER = "one", "other"


def test_the_earliest_retry_of_an_endpoint_is_known_until_any_index_shows_it() -> None:
    recent = RecentRetries()
    recent.add(ONE, 7, NOW + 900, NOW)
    recent.add(ONE, 8, NOW + 300, NOW + 10)
    recent.add(OTHER, 1, NOW + 1, NOW)

    assert [recent.earliest(each, NOW + 10) for each in (ONE, OTHER, "third")] == [NOW + 300, NOW + 1, None]
    assert recent.earliest(ONE, NOW + LAG_MS + 10) == NOW + 300
    assert recent.earliest(ONE, NOW + LAG_MS + 11) is None


def test_an_endpoint_that_is_never_asked_for_keeps_no_more_than_what_is_recent() -> None:
    recent = RecentRetries()
    for number in range(1000):
        recent.add(ONE, number, NOW + 3_600_000, NOW + number * LAG_MS // 10)

    assert len(recent._of_endpoints[ONE]) == 11


def test_what_is_not_found_may_be_due_to_an_index_for_a_while() -> None:
    recent = RecentRetries()

    assert recent.may_lag(ONE, NOW)
    assert recent.may_lag(ONE, NOW + LAG_MS - 1)
    assert recent.may_lag(OTHER, NOW + LAG_MS)
    assert not recent.may_lag(ONE, NOW + LAG_MS)
    recent.found(ONE)
    assert recent.may_lag(ONE, NOW + LAG_MS)
