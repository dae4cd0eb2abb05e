"""Names of Libera's files: what they tell, and what is no name."""

import re
from datetime import UTC, date, datetime
from uuid import UUID

import pytest

from graph.domains.libera.described import described
from graph.domains.libera.names import Level0Name, ManifestKind, ManifestName, ProductName, UnknownName, parse_name

ULID = "01GDHWG4R0W8KXWY0KRDD6BZTT"
PRODUCT = "LIBERA_L1B_RAD-4CH_V1-2-3RC1_20270301T223000_20270302T013000_R27061120000.nc"

NAMES = (
    *(PRODUCT, PRODUCT.replace("R27061120000", ULID), PRODUCT.replace("RC1", ""), PRODUCT.replace("RC1", "RC02")),
    *(PRODUCT.replace(".nc", f".{extension}") for extension in ("h5", "bsp", "bc", "cmr.json")),
    *(PRODUCT.replace("L1B_RAD-4CH", other) for other in ("L1A_RAD-SAMPLE-DECODED", "L2_A-B-C", "CAL_GAIN", "SPICE_0")),
    *("P1590011AAAAAAAAAAAAAT21099051420500.PDS", "X0420000SSSSSSSSSSSSSS69001000000999.PDR.XFR"),
    *("P1590011VVVVVVVVVVVVVV68366235959001.PDR", "P1590011VVVVVVVVVVVVVV68366235959001.PDS.XFR"),
    *(f"LIBERA_{kind}_MANIFEST_{ulid}.json" for kind in ManifestKind for ulid in (ULID, "7" + "Z" * 25)),
)


def test_two_digits_of_a_year_mean_1969_to_2068() -> None:
    assert [parse_name(name).text for name in NAMES] == [*NAMES]
    created = [Level0Name.parse(name).created.year for name in NAMES if name[0] in "PX"]
    assert created == [2021, 1969, 2068, 2068]


def test_a_name_tells_what_a_product_is() -> None:
    assert parse_name(PRODUCT) == ProductName(
        text=PRODUCT,
        level="L1B",
        product="RAD-4CH",
        version="1.2.3RC1",
        utc_start=datetime(2027, 3, 1, 22, 30, tzinfo=UTC),
        utc_end=datetime(2027, 3, 2, 1, 30, tzinfo=UTC),
        revision="R27061120000",
    )


def test_a_product_applies_to_each_day_of_which_it_has_more_than_an_end() -> None:
    across = ProductName.parse(PRODUCT)
    to_midnight = ProductName.parse(PRODUCT.replace("20270302T013000", "20270302T000000"))
    moment = ProductName.parse(PRODUCT.replace("20270301T223000_20270302T013000", "20270301T000000_20270301T000000"))

    assert across.applicable_dates == [date(2027, 3, 1), date(2027, 3, 2)]
    assert to_midnight.applicable_dates == moment.applicable_dates == [date(2027, 3, 1)]


def test_a_name_tells_what_a_level_0_file_is() -> None:
    record = Level0Name.parse("P1590011AAAAAAAAAAAAAT21099051420500.PDS")
    data = Level0Name.parse("P1591036VIIRSSCIENCEAT21099051420501.PDS")
    signal = Level0Name.parse("X1591036VIIRSSCIENCEAT21099051420500.PDR.XFR")

    assert (record.spacecraft, record.apid, record.created) == (159, 11, datetime(2021, 4, 9, 5, 14, 20, tzinfo=UTC))
    assert (record.data_set, record.file_number) == ("P1590011AAAAAAAAAAAAAT210990514205.PDS", 0)
    assert record.is_construction_record
    assert (data.apid, data.is_construction_record, data.holds_data) == (1036, False, True)
    assert (signal.is_construction_record, signal.holds_data) == (False, False)


def test_the_id_of_a_run_is_the_number_of_its_ulid() -> None:
    largest = ManifestName.parse(f"LIBERA_INPUT_MANIFEST_7{'Z' * 25}.json")
    name = ManifestName.parse(f"LIBERA_OUTPUT_MANIFEST_{ULID}.json")

    assert (name.kind, name.ulid) == (ManifestKind.OUTPUT, ULID)
    assert name.run_id == UUID("018363c8-1300-e227-de78-13c35a65ff5a")
    assert largest.run_id == UUID(int=2**128 - 1)


def test_names_tell_versions_of_calibrations_and_products_of_packets() -> None:
    file = described(ProductName.parse(PRODUCT.replace("L1B_RAD-4CH", "CAL_GAIN")))
    assert [(each.calibrates, each.calibration_version) for each in file.calibrations] == [("GAIN", "1.2.3RC1")]
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
