"""Tests for the header `Retry-After`."""

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from graph.core.retry_after import seconds_to_wait

NOW = 1_691_031_133_000  # 2023-08-03T02:52:13Z

DATE = r"[A-Z][a-z]{2}, [0-9]{1,4} [A-Z][a-z]{2} [0-9]{1,6} [0-9]{1,3}:[0-9]{2}:[0-9]{2} [A-Z+-]{0,3}[0-9]{0,6}"


WAITS: dict[str, float | None] = {
    "120": 120,
    "0": 0,
    "-5": 0,
    "12345678901": 12_345_678_901,
    "9" * 400: inf,
    "Thu, 03 Aug 2023 02:53:13 GMT": 60,
    "Thursday, 03-Aug-23 02:53:13 GMT": 60,  # the form of RFC 850
    "Thu, 03 Aug 2023 04:53:13 +0200": 60,
    "Thu, 03 Aug 2023 02:53:13": 60,
    "Thu, 03 Aug 2023 02:51:13 GMT": 0,
    **dict.fromkeys(["", "soon", "1.5", "1e3", "nan", "inf", "１２", "Thu, 99 Aug 2023", "\ud800"]),  # none
}


def test_a_wait_is_a_number_of_seconds_or_lasts_until_a_date() -> None:
    assert {text: seconds_to_wait(text, now=NOW) for text in WAITS} == WAITS


@given(st.text(max_size=60) | st.from_regex(DATE, fullmatch=True))
def test_no_wait_is_negative(text: str) -> None:
    assert (seconds_to_wait(text, now=NOW) or 0) >= 0
