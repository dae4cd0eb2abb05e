"""Calibrations are in the order of their versions, product by product, on either engine."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version
from strawberry.utils.await_maybe import await_maybe

from graph.core.errors import BadUserInput
from graph.core.paging import Paging
from graph.domains.data_files.model import CALIBRATIONS, Calibration
from graph.domains.data_files.selection import VersionRule
from graph.store.ordering import PageRequest
from tests.domains.data_files.in_store import FileStore, a_calibration, data_files
from tests.domains.earthquakes.strategies import A_FEW
from tests.effort import rounds

NUMBERS = ("1.9.0", "1.10.0", "1.10.0rc1", "1.10.0rc2", "2.0.0rc1", "2.0.0", "10.0.0", "1.9.0")
Rows = list[tuple[str, str, str]]  # product, version, name of the file

rows = st.lists(st.tuples(st.sampled_from(["L0", "L1A"]), st.sampled_from(NUMBERS)), max_size=10)


def precedence(version: str) -> tuple[Any, ...]:
    """The place of a version: its numbers, then whether it is the release, and the number of its candidate."""
    numbers, _, candidate = version.partition("rc")
    return tuple(map(int, numbers.split("."))), not candidate, int(candidate or 0)


def model(every: Rows, product: str | None, version: VersionRule | str) -> Rows:
    """The selected calibrations in their order, by the words of the query's documentation."""
    found = [row for row in every if product in (None, row[0])]
    if isinstance(version, str):
        found = [row for row in found if row[1] == version]
    elif found and version is not VersionRule.ALL:
        latest = max((row[1] for row in found), key=precedence)
        parts = 3 if version is VersionRule.LATEST else 1
        found = [row for row in found if precedence(row[1])[0][:parts] == precedence(latest)[0][:parts]]
        if version is VersionRule.LATEST:
            found = [row for row in found if row[1] == latest]
    return sorted(found, key=lambda row: (row[0], precedence(row[1]), row[2]), reverse=True)


async def walked(
    ours: FileStore, product: str | None, version: VersionRule | str, size: int, *, backward: bool
) -> tuple[Rows, list[int]]:
    """All calibrations of all pages, and the pages' sizes."""
    found: Rows = []
    sizes: list[int] = []
    cursor = None
    while True:
        paging: Paging[Any] = Paging(size, True, before=cursor) if backward else Paging(size, after=cursor)
        page = await ours.calibrations.page(product, version, PageRequest(paging))
        some = [_row(each) for each in page.records]
        found = [*some, *found] if backward else [*found, *some]
        sizes.append(len(some))
        assert await await_maybe(page.has_previous if backward else page.has_next) == page.has_more
        if not page.has_more:
            return found, sizes
        cursor = CALIBRATIONS.place_of(CALIBRATIONS.cursor_of(page.records[0 if backward else -1].item), "after")


def _row(each: Calibration) -> tuple[str, str, str]:
    return each.calibrates, each.calibration_version, each.name


@settings(A_FEW, max_examples=rounds(60))
@given(
    some=rows,
    product=st.sampled_from([None, "L0", "L0", "L1A", "L2", ""]),
    version=st.sampled_from([VersionRule.ALL, VersionRule.LATEST, VersionRule.LATEST_MAJOR, "1.9.0", "1.10.0", "3"]),
    size=st.integers(1, 4),
    backward=st.booleans(),
)
async def test_pages_together_are_the_calibrations_of_the_model(
    engine: str, some: list[tuple[str, str]], product: str | None, version: VersionRule | str, size: int, backward: bool
) -> None:
    every = [(of, number, f"{at}.nc") for at, (of, number) in enumerate(some)]
    async with data_files(engine, [a_calibration(name, number, of) for of, number, name in every]) as ours:
        if product is None and version in (VersionRule.LATEST, VersionRule.LATEST_MAJOR):
            with pytest.raises(BadUserInput, match="`product`"):
                await walked(ours, product, version, size, backward=backward)
            return
        found, sizes = await walked(ours, product, version, size, backward=backward)
    expected = model(every, product, version)
    assert found == expected
    full, rest = divmod(len(expected), size)
    assert sizes == ([size] * full + ([rest] if rest else []) or [0])


async def test_a_revision_with_another_version_replaces_the_calibration(engine: str) -> None:
    files = [a_calibration("cal.nc", "1.0.0", "L0", "L1A"), a_calibration("cal.nc", "1.1.0", "L0")]
    async with data_files(engine, files) as ours:
        found, _ = await walked(ours, None, VersionRule.ALL, 5, backward=False)
        assert found == [("L0", "1.1.0", "cal.nc")]
        assert await ours.identifiers("cal.nc") == ["CAL#L0"]
        assert await ours.counters() == {("CAL#L0", "items"): 1}
        assert await ours.files.with_version("cal.nc", "1.0.0") != []  # of the first revision


async def test_the_longest_version_of_a_file_with_a_long_name_has_its_place(engine: str) -> None:
    """An order is several times as long as its version, and stands in one key with the name."""
    versions = ["1.", "1a", "a-"]
    files = [a_calibration("\U0001f6f0" * 390 + str(at), text * 32) for at, text in enumerate(versions)]
    async with data_files(engine, files) as ours:
        found, _ = await walked(ours, "L0", VersionRule.ALL, 1, backward=False)
        assert len(found) == 3
        for _, version, name in found:
            assert await walked(ours, "L0", version, 1, backward=True) == ([("L0", version, name)], [1])


def test_the_model_has_the_order_of_python_packages() -> None:
    assert sorted(NUMBERS, key=precedence) == sorted(NUMBERS, key=Version)
