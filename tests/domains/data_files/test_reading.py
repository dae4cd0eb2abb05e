"""Pages of data files, and of calibrations, equal what looking at every file finds, on either engine.

For any filter and any size of a page. Calibrations are in the order of their versions, product by product.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from packaging.version import Version

from graph.core.errors import BadUserInput
from graph.core.paging import Page, Paging
from graph.domains.data_files.entities import BY_APPLICABLE_DATE, BY_DATE, CALIBRATIONS, DAY, PART
from graph.domains.data_files.model import DataFile
from graph.domains.data_files.new_files import NewFile, SortableMetadata
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.schema.filters import DataFileFilter
from graph.domains.data_files.selection import FileSelection, VersionRule
from graph.store.contract import Update
from graph.store.ordering import PageRequest
from tests.domains.data_files.in_store import FileStore, a_calibration, a_file, data_files, day, walked
from tests.domains.data_files.whole import counters
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.earthquakes.watched_database import WatchedDatabase
from tests.effort import rounds

VERSIONS = ("1.0.0", "1.1.0rc1", "1.1.0", "2.0.0")  # ascending
DAYS = (1, 2, 3, 4)

data = st.builds(
    SortableMetadata,
    type=st.sampled_from([None, "APID11", "APID11", "APID12"]),
    applicable_dates=st.lists(st.sampled_from([day(number) for number in DAYS]), max_size=3),
    missing_packet_count=st.sampled_from([None, 0, 1, 5]),
)
kinds = st.fixed_dictionaries(
    {"level": st.sampled_from(["L0", "L0", "L1A"]), "sortable": st.lists(data, max_size=3)},
    optional={"product": st.sampled_from(["RAD", "CAM"]), "algorithm_version": st.sampled_from(VERSIONS)},
)


def _files(some: Sequence[dict[str, Any]]) -> list[NewFile]:
    return [NewFile(name=f"{number}.nc", **each) for number, each in enumerate(some)]


files = st.lists(kinds, max_size=8).map(_files)
bounds = st.none() | st.sampled_from([day(number) for number in (*DAYS, 9)])
selections = (
    st.fixed_dictionaries(
        {
            "first": bounds,
            "last": bounds,
            "levels": st.sampled_from([None, None, ("L0",), ("L1A",), ("L1A", "L0"), ("L9",), ()]),
            "products": st.sampled_from([None, None, ("RAD",), ("CAM", "RAD"), ("NONE",)]),
            "data_type": st.sampled_from([None, None, "APID11", "APID12"]),
            "version": st.sampled_from([*VersionRule, *VersionRule, "1.1.0", "3"]),
            "missing_packets_gt": st.sampled_from([None, None, 0, 4, 9]),
        }
    )
    .filter(lambda each: each["first"] is None or each["last"] is None or each["first"] <= each["last"])
    .map(lambda each: FileSelection(**each))
)


def days_of(file: NewFile, data_type: str | None = None) -> set[date]:
    """The days of a file's data, of those of a type if it is given."""
    parts = [part for part in file.sortable if data_type in (None, part.type)]
    return {each for part in parts for each in part.applicable_dates}


def is_latest(file: NewFile, on: date, every: Sequence[NewFile], rule: VersionRule) -> bool:
    """Whether a file has the latest version, or major version, of its level, product and day."""
    places = [
        (*VERSIONS, None).index(each.algorithm_version) if each.algorithm_version else -1
        for each in every
        if (each.level, each.product) == (file.level, file.product) and on in days_of(each)
    ]
    own = VERSIONS.index(file.algorithm_version) if file.algorithm_version else -1
    majors = {-1: -1, 0: 1, 1: 1, 2: 1, 3: 2}
    return own == max(places) if rule is VersionRule.LATEST else majors[own] == majors[max(places)]


def listed_at(file: NewFile, selection: FileSelection, every: Sequence[NewFile]) -> date | None:
    """The day at which a file is listed; None if it is not selected."""
    days = [
        each
        for each in days_of(file, selection.data_type)
        if (selection.first or each) <= each <= (selection.last or each)
    ]
    missing = [
        part.missing_packet_count or 0
        for part in file.sortable
        if selection.data_type in (None, part.type) and part.missing_packet_count is not None
    ]
    more = selection.missing_packets_gt
    if (
        not days
        or (selection.levels is not None and file.level not in selection.levels)
        or (selection.products is not None and file.product not in selection.products)
        or (isinstance(selection.version, str) and selection.version != file.algorithm_version)
        or (more is not None and max(missing, default=0) <= more)
    ):
        return None
    rule = selection.version
    if isinstance(rule, VersionRule) and rule is not VersionRule.ALL and not is_latest(file, min(days), every, rule):
        return None
    return min(days)


async def page_of(ours: DataFiles, selection: FileSelection, paging: Paging) -> Page[DataFile]:
    """A page of a selection."""
    return await ours.page(selection, PageRequest(paging))


async def all_of(
    ours: FileStore, selection: FileSelection, size: int, *, backward: bool = False, meanwhile: Sequence[NewFile] = ()
) -> list[DataFile]:
    """All files of all pages, between which others are registered."""
    others = iter(meanwhile)

    async def register() -> None:
        if (other := next(others, None)) is not None:
            await ours.register(other)

    return await walked(
        lambda paging: page_of(ours.files, selection, paging), place_of, size, backward=backward, between=register
    )


def place_of(file: DataFile) -> Any:
    """What a cursor of the file leads to."""
    return BY_APPLICABLE_DATE.place_of(BY_APPLICABLE_DATE.cursor_of(file.item), "after")


MISSING = a_file(
    "gaps.nc",
    sortable=[
        SortableMetadata(type="APID11", applicable_dates=[day(1)], missing_packet_count=0),
        SortableMetadata(type="APID12", applicable_dates=[day(1)], missing_packet_count=5),
    ],
)
WITHOUT_DAYS = a_file(
    "0.nc",
    sortable=[
        SortableMetadata(type="APID11", applicable_dates=[day(1)]),
        SortableMetadata(type="APID12", applicable_dates=[], missing_packet_count=1),
    ],
)


@example(some=[a_file("a.nc", 1, 2, 3)], selection=FileSelection(first=day(1)), size=1, backward=True)
@example(some=[WITHOUT_DAYS], selection=FileSelection(missing_packets_gt=0), size=1, backward=False)
@example(some=[MISSING], selection=FileSelection(missing_packets_gt=4), size=1, backward=False)
@settings(A_FEW, max_examples=rounds(100))
@given(some=files, selection=selections, size=st.integers(1, 4), backward=st.booleans())
async def test_pages_together_are_the_files_of_the_model_each_once(
    engine: str, some: list[NewFile], selection: FileSelection, size: int, backward: bool
) -> None:
    expected = {file.name: at for file in some if (at := listed_at(file, selection, some))}

    async with data_files(engine, some) as ours:
        found = await all_of(ours, selection, size, backward=backward)
        again = await all_of(ours, selection, 50)

    names = [each.name for each in found]
    assert sorted(names) == sorted(expected)
    places = [(expected[each.name], each.item["identifier"], each.name) for each in found]
    assert places == sorted(places, reverse=True)
    assert names == [each.name for each in again]  # in one order whatever the size of a page
    by_name = {file.name: file for file in some}
    for each in found:
        assert (each.level, each.product) == (by_name[each.name].level, by_name[each.name].product)
        assert each.applicable_dates == sorted(days_of(by_name[each.name]))


@settings(A_FEW, max_examples=rounds(50))
@given(some=files, selection=selections, size=st.integers(1, 3), backward=st.booleans(), others=files)
async def test_files_that_are_registered_while_others_are_paged_move_none_of_them(
    engine: str, some: list[NewFile], selection: FileSelection, size: int, backward: bool, others: list[NewFile]
) -> None:
    rule = selection.version  # what is latest may change meanwhile
    selection = replace(selection, version=VersionRule.ALL if isinstance(rule, VersionRule) else rule)
    expected = {file.name for file in some if listed_at(file, selection, some)}
    meanwhile = [replace(file, name=f"later-{file.name}") for file in others]
    async with data_files(engine, some) as ours:
        found = await all_of(ours, selection, size, backward=backward, meanwhile=meanwhile)
    names = [each.name for each in found]
    assert len(set(names)) == len(names)
    assert {name for name in names if not name.startswith("later-")} == expected


async def test_a_cursor_stays_valid_after_its_file_has_got_other_days(engine: str) -> None:
    some = [a_file(f"{number}.nc", number) for number in (5, 4, 3, 2)]
    async with data_files(engine, some) as ours:
        page = await page_of(ours.files, FileSelection(), Paging(2))
        await ours.register(a_file("4.nc", 9))
        rest = await page_of(ours.files, FileSelection(), Paging(2, after=place_of(page.records[-1])))
    assert [each.name for each in rest.records] == ["3.nc", "2.nc"]


async def test_a_revision_is_listed_at_its_own_days_alone(engine: str) -> None:
    async with data_files(engine, [a_file("a.nc", 1, 2, type="APID11"), a_file("a.nc", 2, 3)]) as ours:
        for selection, found in (
            (FileSelection(first=day(1), last=day(1)), []),
            (FileSelection(first=day(2), last=day(2)), ["a.nc"]),
            (FileSelection(), ["a.nc"]),
            (FileSelection(data_type="APID11"), []),
        ):
            page = await page_of(ours.files, selection, Paging(5))
            assert [each.name for each in page.records] == found, selection


async def test_a_list_reads_the_days_that_have_selected_files_and_no_others(engine: str) -> None:
    some = [a_file(f"{number}.nc", number, level="L1A" if number == 7 else "L0") for number in range(1, 29)]
    async with data_files(engine, some) as ours:
        watched = WatchedDatabase(ours.database)
        page = await page_of(DataFiles(watched), FileSelection(levels=("L1A",)), Paging(5))
    assert [each.name for each in page.records] == ["7.nc"]
    assert {call.entity for call in watched.calls if call.method == "query"} == {DAY, PART}
    assert watched.read(PART, BY_DATE) == {("2024-01-07",)}


async def test_words_that_no_file_can_have_select_none(engine: str) -> None:
    async with data_files(engine, [a_file("a.nc", 1, type="APID11", product="RAD")]) as ours:
        for word in ("", "\0", "a" * 10_000, "L0#APID11", "é"):
            for name in ("levels", "products", "data_type", "version"):
                given: dict[str, Any] = {name: (word,) if name.endswith("s") else word}
                assert list((await page_of(ours.files, FileSelection(**given), Paging(5))).records) == [], name
            assert await ours.files.by_name([word]) == {}
            assert await ours.files.with_version(word, word) == []
            assert list((await ours.calibrations.page(word, VersionRule.LATEST, PageRequest(Paging(5)))).records) == []


def test_a_filter_without_values_selects_all() -> None:
    assert DataFileFilter().selection == FileSelection()


NUMBERS = ("1.9.0", "v1.9", "1.9.0.post1", "1.10.0", "1.10.0rc1", "1.10.0rc2", "2.0.0rc1", "2.0.0", "10.0.0", "1.9.0")
Rows = list[tuple[str, str, str]]  # product, version, name of the file

calibration_rows = st.lists(st.tuples(st.sampled_from(["L0", "L1A"]), st.sampled_from(NUMBERS)), max_size=10)


def selected_calibrations(every: Rows, product: str | None, version: VersionRule | str) -> Rows:
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


async def all_calibrations(
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
    some=calibration_rows,
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
            with pytest.raises(BadUserInput, match="`calibrates`"):
                await all_calibrations(ours, product, version)
        else:
            found = await all_calibrations(ours, product, version, size, backward=backward)
            assert found == selected_calibrations(every, product, version)


async def test_a_revision_with_another_version_replaces_the_calibration(engine: str) -> None:
    files = [a_calibration("cal.nc", "1.0.0", "L0", "L1A"), a_calibration("cal.nc", "1.1.0", "L0")]
    async with data_files(engine, files) as ours:
        assert await all_calibrations(ours, None, VersionRule.ALL) == [("L0", "1.1.0", "cal.nc")]
        assert await ours.identifiers("cal.nc") == ["CAL#L0"]
        assert await counters(ours) == {("CAL#L0", "items"): 1}
        assert await ours.files.with_version("cal.nc", "1.0.0") != []  # of the first revision


async def test_an_order_of_an_earlier_version_of_the_service_finds_the_latest_calibration(engine: str) -> None:
    """Then, zeros behind all counted."""
    files = [a_calibration("old.nc", "1.2.0"), a_calibration("new.nc", "1.1")]
    async with data_files(engine, files) as ours:
        key = PART.key_for("old.nc", "CAL#L0")
        await ours.database.transact([Update(key, set={"calibration-order": "n011 n012 n00 m old.nc"})])
        assert await all_calibrations(ours, "L0", VersionRule.LATEST) == [("L0", "1.2.0", "old.nc")]
        assert len(await all_calibrations(ours, "L0", VersionRule.LATEST_MAJOR)) == 2


async def test_the_longest_version_of_a_file_with_a_long_name_has_its_place(engine: str) -> None:
    """An order is several times as long as its version, and stands in one key with the name."""
    versions = ["1.", "1a", "a-"]
    files = [a_calibration("\U0001f6f0" * 249 + str(at), text * 32) for at, text in enumerate(versions)]
    async with data_files(engine, files) as ours:
        found = await all_calibrations(ours, "L0", VersionRule.ALL, 1)
        assert len(found) == 3
        for _, version, name in found:
            assert await all_calibrations(ours, "L0", version, 1, backward=True) == [("L0", version, name)]
