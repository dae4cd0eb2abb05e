"""Names of Libera's files: what they tell, and what is no name."""

import re
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.data_files.libera.described import described
from graph.domains.data_files.libera.names import (
    LEVELS,
    ULID_ALPHABET,
    Level0Name,
    LiberaName,
    ManifestKind,
    ManifestName,
    ProductName,
    UnknownName,
    parse_name,
)

ULID = "01GDHWG4R0W8KXWY0KRDD6BZTT"
PRODUCT = "LIBERA_L1B_RAD-4CH_V1-2-3RC1_20270301T223000_20270302T013000_R27061120000.nc"

TIMES = st.integers(-31_000_000, 3_120_000_000).map(lambda second: datetime.fromtimestamp(second, UTC))  # 1969 to 2068
ULIDS = st.builds(str.__add__, st.sampled_from("01234567"), st.text(ULID_ALPHABET, min_size=25, max_size=25))
WORDS = st.lists(st.text("ABCXYZ0189", min_size=1, max_size=5), min_size=1, max_size=3).map("-".join)
VERSIONS = st.from_regex(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(RC[0-9]{1,2})?", fullmatch=True).filter(str.isascii)


@st.composite
def products(draw: st.DrawFn) -> ProductName:
    """Any name of a data product."""
    start = draw(TIMES)
    return ProductName(
        level=draw(st.sampled_from(LEVELS)),
        product=draw(WORDS),
        version=draw(VERSIONS),
        utc_start=start,
        utc_end=start + timedelta(seconds=draw(st.integers(0, 10 * 86_400))),
        revision=draw(ULIDS | TIMES.map(lambda time: f"R{time:%y%j%H%M%S}")),
        extension=draw(st.sampled_from(["nc", "h5", "bsp", "bc", "cmr.json"])),
    )


LEVEL_0 = st.builds(
    Level0Name,
    kind=st.sampled_from("PX"),
    spacecraft=st.integers(0, 999),
    apid=st.integers(0, 9999),
    fill=st.text("ABSTVIR0", min_size=14, max_size=14),
    created=TIMES,
    data_set=st.integers(0, 9),
    file_number=st.integers(0, 99),
    extension=st.sampled_from(["PDS", "PDR"]),
    signal=st.sampled_from(["", ".XFR"]),
)
NAMES: st.SearchStrategy[LiberaName] = st.one_of(
    products(), LEVEL_0, st.builds(ManifestName, kind=st.sampled_from(ManifestKind), ulid=ULIDS)
)


@given(NAMES)
def test_what_is_read_from_a_name_formats_to_the_same_name(name: LiberaName) -> None:
    assert parse_name(str(name)) == name


def test_a_name_tells_what_a_product_is() -> None:
    assert parse_name(PRODUCT) == ProductName(
        level="L1B",
        product="RAD-4CH",
        version="1.2.3RC1",
        utc_start=datetime(2027, 3, 1, 22, 30, tzinfo=UTC),
        utc_end=datetime(2027, 3, 2, 1, 30, tzinfo=UTC),
        revision="R27061120000",
        extension="nc",
    )


def test_a_product_applies_to_each_day_of_which_it_has_more_than_an_end() -> None:
    across = ProductName.parse(PRODUCT)
    to_midnight = ProductName.parse(PRODUCT.replace("20270302T013000", "20270302T000000"))
    moment = ProductName.parse(PRODUCT.replace("20270301T223000_20270302T013000", "20270301T000000_20270301T000000"))

    assert across.applicable_date == date(2027, 3, 2)  # of the middle, 00:00
    assert across.applicable_dates == [date(2027, 3, 1), date(2027, 3, 2)]
    assert to_midnight.applicable_dates == moment.applicable_dates == [date(2027, 3, 1)]


def test_a_name_tells_what_a_level_0_file_is() -> None:
    record = Level0Name.parse("P1590011AAAAAAAAAAAAAT21099051420500.PDS")
    data = Level0Name.parse("P1591036VIIRSSCIENCEAT21099051420501.PDS")
    signal = Level0Name.parse("X1591036VIIRSSCIENCEAT21099051420500.PDR.XFR")

    assert (record.spacecraft, record.apid, record.created) == (159, 11, datetime(2021, 4, 9, 5, 14, 20, tzinfo=UTC))
    assert (record.data_set, record.file_number, record.is_construction_record) == (5, 0, True)
    assert (data.apid, data.is_construction_record, data.holds_data) == (1036, False, True)
    assert (signal.is_construction_record, signal.holds_data) == (False, False)


def test_the_id_of_a_run_is_the_number_of_its_ulid() -> None:
    largest = ManifestName(kind=ManifestKind.INPUT, ulid="7" + "Z" * 25)
    name = ManifestName.parse(f"LIBERA_OUTPUT_MANIFEST_{ULID}.json")

    assert (name.kind, name.ulid) == (ManifestKind.OUTPUT, ULID)
    assert name.run_id == UUID("018363c8-1300-e227-de78-13c35a65ff5a")
    assert largest.run_id == UUID(int=2**128 - 1)


def test_names_tell_versions_of_calibrations_and_products_of_packets() -> None:
    file = described(ProductName.parse(PRODUCT.replace("L1B_RAD-4CH", "CAL_GAIN")))
    assert [(each.calibrates, each.version) for each in file.calibrations] == [("GAIN", "1.2.3RC1")]
    assert not file.sortable

    for apid, number, product in (
        ("0011", "01", "SC-POS-PDS"),
        ("1036", "02", "RAD-SAMPLE-PDS"),
        ("1999", "01", "APID1999-PDS"),
        ("0011", "00", "PDS-CR"),
    ):
        name = Level0Name.parse(f"P159{apid}VIIRSSCIENCEAT210990514205{number}.PDS")
        assert described(name).product == product


NO_NAME = "is not the name of a data product"
ODD = {
    **dict.fromkeys(("", "notes.txt", PRODUCT + "\n", f"LIBERA_OUTPUT_MANIFEST_{ULID}.json.bak"), NO_NAME),
    **dict.fromkeys(
        (PRODUCT.replace("RAD", "RÄD"), PRODUCT.replace("V1", "V٣"), PRODUCT.replace("L1B", "L3")), NO_NAME
    ),
    PRODUCT.replace("RAD-4CH", "A" * 300): NO_NAME,
    PRODUCT.replace("R27061120000", "8" + "0" * 25): NO_NAME,
    PRODUCT.replace("R27061120000", "0" * 25 + "L"): NO_NAME,
    PRODUCT.replace("20270301T223000", "20270229T223000"): "has an impossible time, 20270229T223000",
    PRODUCT.replace("20270301T223000", "20270301T223060"): "has an impossible time, 20270301T223060",
    PRODUCT.replace("20270301T223000", "20270303T223000"): "ends before it begins",
    PRODUCT.replace("20270301T223000", "20250301T223000"): "covers more than 366 days",
    PRODUCT.replace("R27061120000", "R27366120000"): "has an impossible time, 27366120000",
    "P1590011AAAAAAAAAAAAAT21399051420500.PDS": "has an impossible time, 21399051420",
}


def test_what_follows_no_pattern_is_no_name() -> None:
    for name, reason in ODD.items():
        with pytest.raises(UnknownName, match=re.escape(reason)):
            parse_name(name)
