"""Calibrations are in the order of their versions, product by product, on either engine."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from graph.core.errors import BadUserInput
from graph.domains.data_files.entities import CALIBRATIONS, PART
from graph.domains.data_files.selection import VersionRule
from graph.store.contract import Update
from graph.store.ordering import PageRequest
from tests.domains.data_files.in_store import FileStore, a_calibration, data_files, walked
from tests.domains.data_files.whole import counters
from tests.domains.earthquakes.strategies import A_FEW
from tests.effort import rounds

NUMBERS = ("1.9.0", "v1.9", "1.9.0.post1", "1.10.0", "1.10.0rc1", "1.10.0rc2", "2.0.0rc1", "2.0.0", "10.0.0", "1.9.0")
Rows = list[tuple[str, str, str]]  # product, version, name of the file

rows = st.lists(st.tuples(st.sampled_from(["L0", "L1A"]), st.sampled_from(NUMBERS)), max_size=10)


def model(every: Rows, product: str | None, version: VersionRule | str) -> Rows:
    """The selected calibrations in their order, by the words of the query's documentation."""
    found = [row for row in every if product in (None, row[0])]
    if isinstance(version, str):
        found = [row for row in found if row[1] == version]
    elif found and version is not VersionRule.ALL:
        latest = max(Version(row[1]) for row in found)
        found = [row for row in found if Version(row[1]).major == latest.major]
        if version is VersionRule.LATEST:
            found = [row for row in found if Version(row[1]) == latest]
    return sorted(found, key=lambda row: (row[0], Version(row[1]), row[2]), reverse=True)


async def all_of(
    ours: FileStore, product: str | None, version: VersionRule | str, size: int = 5, *, backward: bool = False
) -> Rows:
    """All calibrations of all pages."""
    found = await walked(
        lambda paging: ours.calibrations.page(product, version, PageRequest(paging)),
        lambda each: CALIBRATIONS.place_of(CALIBRATIONS.cursor_of(each.item), "after"),
        size,
        backward=backward,
    )
    return [(each.calibrates, each.item["calibration-version"], each.name) for each in found]


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
                await all_of(ours, product, version)
        else:
            found = await all_of(ours, product, version, size, backward=backward)
            assert found == model(every, product, version)


async def test_a_revision_with_another_version_replaces_the_calibration(engine: str) -> None:
    files = [a_calibration("cal.nc", "1.0.0", "L0", "L1A"), a_calibration("cal.nc", "1.1.0", "L0")]
    async with data_files(engine, files) as ours:
        assert await all_of(ours, None, VersionRule.ALL) == [("L0", "1.1.0", "cal.nc")]
        assert await ours.identifiers("cal.nc") == ["CAL#L0"]
        assert await counters(ours) == {("CAL#L0", "items"): 1}
        assert await ours.files.with_version("cal.nc", "1.0.0") != []  # of the first revision


async def test_an_order_of_an_earlier_version_of_the_service_finds_the_latest_calibration(engine: str) -> None:
    """Then, zeros behind all counted."""
    files = [a_calibration("old.nc", "1.2.0"), a_calibration("new.nc", "1.1")]
    async with data_files(engine, files) as ours:
        key = PART.key_for("old.nc", "CAL#L0")
        await ours.database.transact([Update(key, set={"calibration-order": "n011 n012 n00 m old.nc"})])
        assert await all_of(ours, "L0", VersionRule.LATEST) == [("L0", "1.2.0", "old.nc")]
        assert len(await all_of(ours, "L0", VersionRule.LATEST_MAJOR)) == 2


async def test_the_longest_version_of_a_file_with_a_long_name_has_its_place(engine: str) -> None:
    """An order is several times as long as its version, and stands in one key with the name."""
    versions = ["1.", "1a", "a-"]
    files = [a_calibration("\U0001f6f0" * 390 + str(at), text * 32) for at, text in enumerate(versions)]
    async with data_files(engine, files) as ours:
        found = await all_of(ours, "L0", VersionRule.ALL, 1)
        assert len(found) == 3
        for _, version, name in found:
            assert await all_of(ours, "L0", version, 1, backward=True) == [("L0", version, name)]
