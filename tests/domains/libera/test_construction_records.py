"""Reading construction records: the documented items, and what is refused."""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

import pytest

from graph.domains.data_files.checking import drafted
from graph.domains.data_files.new_files import NewFile
from graph.domains.libera.construction_records import read_construction_record
from graph.domains.libera.edos_layout import BrokenRecord
from graph.domains.libera.names import Level0Name
from tests.domains.libera.edos_records import DATA, END, NAME, START, Apid, Gap, Record

FULL = Record(
    apids=[
        Apid(gaps=[Gap(17, 2), Gap(90, 40)], fill=[(5, 355, 12), (6, 426, 0)], discrepancies=[8, 9], vcids=[6, 7]),
        Apid(1036, last=START + timedelta(hours=1)),
    ],
    files=[(NAME, ()), (DATA, (Apid(), Apid(1036))), (DATA.replace("01.PDS", "02.PDS"), (Apid(),))],
    sessions=2,
)


def read(record: Record | bytes, name: str = NAME) -> NewFile:
    """Read a record."""
    return read_construction_record(Level0Name.parse(name), record if isinstance(record, bytes) else record.packed())


def test_a_record_has_the_size_of_real_ones() -> None:
    """A record of JPSS-1 in the tests of libera_utils has 448 bytes, one of JPSS-4 has 6,720."""
    assert len(Record(apids=[Apid(gaps=[Gap(1, 1)], fill=[(1, 2, 3)])]).packed()) == 448
    assert len(Record(apids=[Apid(gaps=[Gap(1, 1)] * 132)]).packed()) == 6720


def test_each_apid_has_its_days_and_counts_of_missing_packets_and_of_packets_with_fill() -> None:
    first, second = read(FULL).sortable

    assert (first.type, first.applicable_dates) == ("APID11", [date(2027, 3, 1), date(2027, 3, 2)])
    assert (first.first_packet_time, first.last_packet_time) == (START, END)
    assert (first.missing_packet_count, first.filled_gap_count) == (42, 2)
    assert (second.type, second.applicable_dates) == ("APID1036", [date(2027, 3, 1)])
    assert (second.missing_packet_count, second.filled_gap_count) == (0, 0)


def test_every_item_of_a_record_is_kept() -> None:
    file = read(FULL)

    assert [each.identifier for each in file.additional] == [
        "CR",
        "SCS-START-STOP#1",
        "SCS-START-STOP#2",
        "APID11",
        "APID11#VCID",
        "APID11#VCID",
        "APID11#SSC-GAPS",
        "APID11#SSC-GAPS",
        "APID11#EDOS-FILL",
        "APID11#EDOS-FILL",
        "APID11#LENGTH-DISCREPANCY",
        "APID11#LENGTH-DISCREPANCY",
        "APID1036",
        "APID1036#VCID",
        "PDS",
        "PDS#APID11",
        "PDS#APID1036",
        "PDS",
        "PDS#APID11",
    ]
    parts = drafted(file).parts  # which repeat no key
    assert [identifier for identifier in parts if "GAPS" in identifier] == ["APID11#SSC-GAPS", "APID11#SSC-GAPS#0002"]
    assert [parts[each]["filename"] for each in ("PDS", "PDS#0002")] == [DATA, DATA.replace("01.PDS", "02.PDS")]
    days = [each["applicable-date"] for each in parts.values() if "applicable-date" in each]
    assert days == ["2027-03-01", "2027-03-01", "2027-03-02"]


def test_items_have_the_documented_attributes() -> None:
    file = read(FULL)
    items: dict[str, dict[str, object]] = {each.identifier: dict(each.attributes) for each in reversed(file.additional)}

    assert (file.level, file.product, file.algorithm_version, file.metadata) == (
        "L0",
        "PDS-CR",
        "5.2",
        {"edos-version": "5.2"},
    )
    assert items["PDS"] == {"filename": DATA, "n-apids": 2}
    assert items["PDS#APID11"] == {
        "filename": DATA,
        "SCID": 179,
        "APID": 11,
        "first-packet-utc-time": "2027-03-01 22:00:00.000125",
        "last-packet-utc-time": "2027-03-02 00:00:00.000250",
    }
    assert items["APID11"] == {
        "edos-version": "5.2",
        "SCID": 179,
        "APID": 11,
        "byte-offset": 0,
        "n-vcids": 2,
        "n-ssc-gaps": 2,
        "n-edos-generated-fill-data": 2,
        "count-edos-generated-octets": 18,
        "n-length-discrepancy-packets": 2,
        "first-packet-utc-time": "2027-03-01 22:00:00.000125",
        "last-packet-utc-time": "2027-03-02 00:00:00.000250",
        "first-packet-esh-time": "aaaaaaaaaaaaaaaa",
        "last-packet-esh-time": "aaaaaaaaaaaaaaaa",
        "n-vcdu-corrected-packets": 3,
        "n-in-the-data-set": 7200,
        "n-octets-in-apid": 511_200,
    }
    assert items["APID11#VCID"] == {"SCID": 179, "VCID": 6}
    assert items["APID11#SSC-GAPS"] == {
        "first-missing-ssc": 17,
        "gap-byte-offset": 4096,
        "n-missing-sscs": 2,
        "preceding-packet-utc-time": "2027-03-01 22:01:00.000125",
        "following-packet-utc-time": "2027-03-01 22:02:00.000125",
        "preceding-packet-esh-time": "0001020304050607",
        "following-packet-esh-time": "08090a0b0c0d0e0f",
    }
    assert items["APID11#EDOS-FILL"] == {
        "ssc-with-generated-data": 5,
        "filled-byte-offset": 355,
        "index-to-fill-octet": 12,
    }
    assert items["APID11#LENGTH-DISCREPANCY"] == {"ssc-length-discrepancy": 8}
    assert items["SCS-START-STOP#2"] == {
        "scs-start-utc-time": "2027-03-01 22:00:00.000125",
        "scs-stop-utc-time": "2027-03-02 00:00:00.000250",
    }
    assert items["CR"]["completion-utc-time"] == "2027-03-02 01:00:00.000250"
    assert (items["CR"]["n-packets"], items["CR"]["n-pds-files"], items["CR"]["test-flag"]) == (7200, 3, True)


def test_a_record_that_is_cut_at_any_byte_is_refused_and_one_with_any_byte_changed_is_read_or_refused() -> None:
    data = FULL.packed()

    for place in range(len(data)):
        with pytest.raises(BrokenRecord, match=f"It ends at byte {place:,}, inside of"):
            read(data[:place])
        changed = bytearray(data)
        changed[place] ^= 0xFF
        with suppress(BrokenRecord):
            read(bytes(changed))


def test_a_leap_second_belongs_to_the_day_that_it_ends() -> None:
    data = bytearray(Record(sessions=0).packed())
    place = data.index(bytes.fromhex("aaaa")) - 8  # the time of the last packet of the APID
    first = place - 8
    data[first : first + 8] = bytes.fromhex("5590 05265818 0000")  # 86,399,000 ms
    data[place : place + 8] = bytes.fromhex("5590 05265c00 03e7")  # 86,400,000 ms and 999 µs

    (sortable,) = read(bytes(data)).sortable

    assert (sortable.first_packet_time, sortable.last_packet_time) == (
        datetime(2017, 12, 21, 23, 59, 59, tzinfo=UTC),
        datetime(2017, 12, 21, 23, 59, 59, 999, tzinfo=UTC),
    )
    assert sortable.applicable_dates == [date(2017, 12, 21)]


OF_ANOTHER = NAME.replace("P179", "P042")
INCONSISTENT: list[tuple[Record | bytes, str]] = [
    (FULL.packed() + b"\0", "It has 1 bytes behind its end"),
    (Record(type=2), "`construction-record-type` is 2"),
    (Record(id=NAME[:-6] + "01"), "It is the record"),
    (Record(apids=[Apid(vcids=[])]), "`n-vcids` is 0"),
    (Record(apids=[Apid(first=END, last=START)]), "The data set ends at 2027-03-01 22:00:00.000125, before it begins"),
    (Record(apids=[Apid(), Apid(12, first=END, last=START)]), "APID 12 ends at"),
    (Record(apids=[Apid(last=START + timedelta(days=400))]), "The data set covers more than 366 days"),
    (Record(files=[]), "`n-pds-files` is 0"),
    (Record(files=[(DATA, (Apid(12),))]), "It lists a file with APID 12, which it does not describe"),
    (Record(files=[(DATA.replace("P179", "P159"), ())]), "It lists a file of another data set"),
    (Record(files=[("x" * 40, ())]), "It lists a file with an impossible name"),
    (Record(files=[("\n" * 40, ())]), "`filename` is no text"),
    (b"", "It ends at byte 0, inside of `edos-version-major`"),
    (Record().packed()[:3] + b"\1" + Record().packed()[4:], "The spare bytes from byte 3 must be 0"),
    (Record().packed()[:40] + b"\2" + Record().packed()[41:], "`test-flag` is 2"),
]


def test_an_inconsistent_record_is_refused() -> None:
    for record, reason in INCONSISTENT:
        with pytest.raises(BrokenRecord) as refused:
            read(record)
        assert str(refused.value).startswith(reason)
    with pytest.raises(BrokenRecord, match="It is of spacecraft 042"):  # whose times are others
        read(Record(id=OF_ANOTHER.removesuffix(".PDS")), OF_ANOTHER)
