"""The tests of usual values in compiled code: they let through only what the attribute's own check accepts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.compilation import Namespace
from graph.store.attributes import Attribute, JsonDocument, Real, Text, Truth, Whole
from graph.store.checks import usual, values_check
from graph.store.values import GREATEST_INTEGER, LEAST_INTEGER, InvalidItem

ATTRIBUTES: tuple[Attribute, ...] = (
    Text("any"),
    Text("bounded", shortest=1, longest=3),
    Text("plain", plain=True),
    Whole("whole"),
    Whole("flag", least=0, greatest=1),
    Real("real"),
    Real("latitude", least=-90, greatest=90),
    Truth("truth"),
    JsonDocument("document"),
)


def is_usual(attribute: Attribute, value: Any) -> bool:
    usually: bool = Namespace().define("value", [f"return {usual(attribute, 'value')}"])(value)
    return usually


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda attribute: attribute.name)
@given(
    value=st.none()
    | st.booleans()
    | st.integers(LEAST_INTEGER - 1, GREATEST_INTEGER + 1)
    | st.integers(-2, 2)
    | st.floats()
    | st.floats(-1e-129, 1e-129)
    | st.text(st.characters(), max_size=5)
    | st.lists(st.integers(), max_size=2)
)
def test_a_usual_value_is_one_that_the_attribute_can_have(attribute: Attribute, value: Any) -> None:
    if is_usual(attribute, value):
        attribute.check(value)


def test_values_at_their_bounds_are_usual() -> None:
    bounds: list[tuple[Attribute, Any]] = [
        (Text("any"), ""),
        (Text("bounded", shortest=1, longest=3), "abc"),
        (Whole("whole"), GREATEST_INTEGER),
        (Real("latitude", least=-90, greatest=90), -90.0),
        (Real("real"), 1e-130),
    ]
    for attribute, value in bounds:
        assert is_usual(attribute, value), attribute


def test_the_values_of_many_keys_are_checked_one_by_one() -> None:
    check = values_check([Text("station", longest=2), Whole("number")])

    check([("a", 1), ("é", 2)])
    for wrong in (("abc", 1), ("a", 1.5), (None, 1)):
        with pytest.raises(InvalidItem):
            check([("a", 1), wrong])
