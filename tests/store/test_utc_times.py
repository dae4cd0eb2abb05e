"""Times as programs write them: which texts are such times, and their order as keys."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.store.attributes import Text, UtcTime
from graph.store.design import KeyAttribute
from graph.store.templates import KeyTemplate
from graph.store.values import InvalidItem

TIME = UtcTime(name="time")
TEMPLATE = KeyTemplate.of(
    KeyAttribute("sk", "S"), "{time}#{id}", {"time": TIME, "id": Text(name="id", shortest=1, longest=9)}, 1024
)
TIMES = (
    "2025-11-11T10:00:00Z",
    "2025-11-11T10:00:00.5Z",
    "2025-11-11T10:00:00.123Z",
    "2025-11-11T10:00:00.123456Z",
    "2025-11-11T10:00:00.123456789Z",
    "2025-11-11T10:00:00+00:00",
    "2025-11-11T10:00:00.123456+00:00",
)
NO_TIMES = (
    *("", "2025-11-11", "2025-11-11T10:00Z", "2025-11-11T10:00:00", "2025-11-11 10:00:00Z", "2025-11-11T10:00:00.Z"),
    *("2025-11-11T10:00:00+01:00", "2025-11-11T10:00:00+00:00Z", "2025-11-31T10:00:00Z", "2025-11-11T24:00:01Z"),
    *("2025-11-11T10:00:00.1234567890Z", "٢٠٢٥-11-11T10:00:00Z", "2025-11-11T10:00:00Z\n", 20251111),
)


@pytest.mark.parametrize("text", TIMES)
def test_a_time_of_other_programs_is_read_and_is_part_of_a_key(text: str) -> None:
    TIME.check(text)
    assert datetime.fromisoformat(text).utcoffset() is not None
    key = TEMPLATE.render([text, "a#b"])
    assert key == f"{text}#a#b"
    assert TEMPLATE.parse(key) == {"time": text, "id": "a#b"}


@pytest.mark.parametrize("value", NO_TIMES)
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(InvalidItem):
        TIME.check(value)


parts = st.tuples(st.sampled_from(TIMES), st.text(max_size=3, min_size=1))


@given(parts, parts)
def test_keys_are_in_the_order_of_the_times_texts_and_then_of_what_follows(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert (TEMPLATE.render(one) < TEMPLATE.render(other)) is (one < other)
