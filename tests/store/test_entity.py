"""Entities: declarations that contradict themselves are refused, and keys are rendered and read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.store.attributes import Attribute, JsonDocument, Real, Text, Truth, Whole
from graph.store.design import Index, KeyAttribute, TableDesign
from graph.store.entity import Entity
from graph.store.records import EntityRecord
from graph.store.shared_keys import same_key
from graph.store.sqlite.table import EntityTable
from graph.store.values import InvalidItem
from tests.store.samples import VISIT

BY_TIME = Index("ByTime", KeyAttribute("gsi1pk", "S"), KeyAttribute("gsi1sk", "N"))
ELSEWHERE = Index("Elsewhere", KeyAttribute("gsi2pk", "S"), KeyAttribute("gsi2sk", "N"))
TABLE = TableDesign("table", KeyAttribute("pk", "S"), KeyAttribute("sk", "S"), (BY_TIME,), "ttl", "entity")


def entity(
    key: tuple[str, str] = ("A#{a}", "B"),
    *attributes: Attribute,
    indexes: dict[Index, tuple[str, str]] | None = None,
    name: str = "KIND",
) -> Entity:
    declared = attributes or (Text("a", longest=9), Whole("n"), Text("t"), Text("o", optional=True))
    return Entity(name, TABLE, key=key, attributes=declared, indexes=indexes or {})


CONTRADICTIONS: dict[str, tuple[tuple[str, str], tuple[Attribute, ...], dict[Index, tuple[str, str]]]] = {
    "an attribute twice": (("{a}", "B"), (Text("a"), Whole("a")), {}),
    "a key of an attribute that is not declared": (("A#{b}", "B"), (), {}),
    "a key of an attribute in a format": (("A#{a:>4}", "B"), (), {}),
    "a key of an attribute as its representation": (("A#{a!r}", "B"), (), {}),
    "two attributes with nothing between": (("{a}{t}", "B"), (), {}),
    "an optional attribute in the primary key": (("A#{o}", "B"), (), {}),
    "an optional attribute in the sort key": (("A#{a}", "{o}"), (), {}),
    "a text before another in a sort key": (("A#{a}", "{t}#{n}"), (), {}),
    "a number of any length before another in a sort key": (("A#{a}", "{n}#{t}"), (), {}),
    "a text of any length before more text in a sort key": (("A#{a}", "{t}#END"), (), {}),
    "a plain text before what sorts behind its beginning": (
        ("A#{a}", "{p}-{t}"),
        (Text("a"), Text("t"), Text("p", plain=True)),
        {},
    ),
    "a text of almost one length before another in a sort key": (
        ("A#{a}", "{p}#{t}"),
        (Text("a"), Text("t"), Text("p", shortest=3, longest=4)),
        {},
    ),
    "a text for a key that is a number": (("A#{a}", "B"), (), {BY_TIME: ("DAY", "{t}")}),
    "a number with text around for a key that is a number": (("A#{a}", "B"), (), {BY_TIME: ("DAY", "T{n}")}),
    "an index that the table does not have": (("A#{a}", "B"), (), {ELSEWHERE: ("DAY", "{n}")}),
    "an attribute with the name of a key": (("A#{a}", "B"), (Text("a"), Text("sk")), {}),
    "an attribute with the name of an index's key": (("A#{a}", "B"), (Text("a"), Whole("gsi1sk")), {}),
    "an attribute for a key that does not name it": (("A#{a}", "B"), (Text("a"), Text("t", in_key_alone=True)), {}),
    "an attribute called entity": (("A#{a}", "B"), (Text("a"), Text("entity")), {}),
}


def test_a_declaration_that_contradicts_itself_is_refused() -> None:
    def refused(case: str) -> str:
        key, attributes, indexes = CONTRADICTIONS[case]
        try:
            entity(key, *attributes, indexes=indexes)
        except ValueError as error:
            return str(error)
        return ""

    assert [case for case in CONTRADICTIONS if not refused(case)] == []


def test_attributes_of_a_sort_key_keep_their_order_before_others() -> None:
    others = Text("a"), Text("t", plain=True), Whole("n", digits=3)
    for sort, first in (
        ("{p}#{t}", Text("p", plain=True)),
        ("P {p},{t}", Text("p", plain=True)),
        ("{p}-{t}", Text("p", shortest=3, longest=3)),
        ("{p}-{t}", Whole("p", digits=4)),
        ("{t}#{n}#{p}", Text("p")),
    ):
        assert entity(("A#{a}", sort), first, *others).templates[TABLE.primary].sort.source == sort


def test_attributes_that_cannot_be_columns_are_refused_by_sqlite() -> None:
    for name in ("A", "others", "RowId"):
        with pytest.raises(ValueError, match="cannot be columns"):
            EntityTable(entity(("A#{a}", "B"), Text("a"), Text(name)))


def test_a_record_with_a_key_of_two_attributes_is_refused() -> None:
    with pytest.raises(TypeError, match=r"must be one attribute, not \('a', 't'\)"):
        EntityRecord.stored_in(entity(("A#{a}", "{t}")))


def test_keys_that_two_entities_could_share_are_found() -> None:
    pairs = [
        (("A#{a}", "B"), ("A#{t}", "B"), True),
        (("A#{a}", "B"), ("A#{t}", "C"), False),
        (("A#{a}", "B"), ("AB#{t}", "B"), False),
        (("A#{a}", "B"), ("A#{n}", "{t}"), True),
        (("A", "B"), ("A", "B"), True),
        (("A", "B"), ("{a}", "{t}"), True),
        (("A#1", "B"), ("A#{n}", "B"), True),
        (("A#x", "B"), ("A#{n}", "B"), False),
        (("A#{a}#END", "B"), ("A#{a}#STOP", "B"), False),
    ]
    for one, other, shared in pairs:
        assert same_key(entity(one), entity(other)) is same_key(entity(other), entity(one)) is shared, (one, other)


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_without_mark = _texts.filter(lambda text: "#" not in text)


_plain = st.text("-.09AZ_az", max_size=4)
_three = st.text(st.characters(exclude_categories=["Cs"]), min_size=3, max_size=3)
_numbers = st.integers(0, 10**13 - 1)
COMPOSITE = entity(
    ("A#{a}", "{p}#{f}#{n}#{t}"),
    *(Text("a"), Text("p", plain=True), Text("f", shortest=3, longest=3), Whole("n", least=0, digits=13), Text("t")),
)


@given(st.lists(st.tuples(_plain, _three, _numbers, _texts), max_size=6))
def test_keys_are_ordered_by_their_attributes_and_read_as_they_were_rendered(
    values: list[tuple[str, str, int, str]],
) -> None:
    sort = COMPOSITE.templates[TABLE.primary].sort

    assert sorted(values) == sorted(values, key=lambda each: sort.render(each).encode())
    for each in values:
        assert sort.parse(sort.render(each)) == dict(zip("pfnt", each, strict=True))


@given(st.tuples(_without_mark, _without_mark, _texts), st.sampled_from(["A#", "[", "{{", ".*", "\\d", "é"]))
def test_any_literal_may_be_part_of_a_template(values: tuple[str, str, str], literal: str) -> None:
    made = entity((f"{literal}{{a}}#{{t}}#{{u}}", "B"), Text("a"), Text("t"), Text("u"))
    partition = made.templates[TABLE.primary].partition

    assert partition.parse(partition.render(values)) == dict(zip(("a", "t", "u"), values, strict=True))


def test_a_key_that_the_template_does_not_make_is_not_read() -> None:
    keys: list[Any] = ["", "VISIT", "VISIT#x#r", "VISIT#12", "visit#1#r", "XVISIT#1#r", 5, None]
    numbers = ["", "-0", "01", "+1", "1.0", "\u0663"]
    unpadded = ["a#bcd#7#t", f"a#bcd#{7:014}#t", f"a#bcd#-{7:012}#t"]

    visit, composite = VISIT.primary.sort, COMPOSITE.primary.sort
    assert [key for key in (*keys, *(f"VISIT#{each}#r" for each in numbers)) if visit.parse(key) is not None] == []
    assert [key for key in unpadded if composite.parse(key) is not None] == []


ITEM: dict[str, Any] = {"a": "é", "w": 1, "r": 0.5, "b": True, "d": [1]}
BOUNDED = Entity(
    "BOUNDED",
    TABLE,
    key=("A#{a}", "B"),
    attributes=(
        Text("a", longest=3),
        Text("p", longest=3, plain=True, optional=True),
        Whole("w", least=-5, greatest=5),
        Real("r", least=-0.5, greatest=10, optional=True),
        Truth("b"),
        JsonDocument("d"),
        Whole("free", optional=True),
        Real("any", optional=True),
    ),
)


def test_a_value_within_its_bounds_is_accepted() -> None:
    accepted: dict[str, list[Any]] = {
        "a": ["\U00010000" * 3],
        "p": ["-._", ""],
        "w": [-5, 5],
        "r": [-0.5, 10, 0, 0.0],
        "free": [2**63 - 1, -(2**63)],
        "any": [9.99e125, -1e-130, 2**60],
        "d": [{}],
    }
    BOUNDED.check(ITEM)
    for name, values in accepted.items():
        for value in values:
            BOUNDED.check({**ITEM, name: value})


def test_a_value_beyond_its_bounds_or_of_another_type_is_refused() -> None:
    refused: dict[str, list[Any]] = {
        "a": ["abcd", 1, None, "\ud800"],
        "p": ["a b", "é", "a\n", "a#", "a:", "abcd"],
        "w": [6, -6, 1.0, 1.5, True],
        "r": [10.5, float("nan"), "1", False, None],
        "free": [2**63, -(2**63) - 1],
        "any": [1e126, 1e-131, float("inf"), 2**60 + 1],
        "b": [1, "true"],
        "d": ["[]", [float("inf")]],
        "unknown": [1],
    }
    for name, values in refused.items():
        for value in values:
            with pytest.raises(InvalidItem):
                BOUNDED.check({**ITEM, name: value})
    for missing in ("a", "w", "b", "d"):
        with pytest.raises(InvalidItem, match=f"`{missing}`"):
            BOUNDED.check({name: value for name, value in ITEM.items() if name != missing})
