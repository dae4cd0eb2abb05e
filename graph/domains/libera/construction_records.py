"""Reads a construction record of EDOS, which tells how a Level 0 production data set was made.

    bytes → values by the layout → the documented items of a NewFile

The layout is that of spacecraft with CCSDS times: Suomi NPP and JPSS. Two readers agree on it, field by field.
Sources: libera_utils, `io/pds.py` of 2024, https://github.com/LASP-Libera/libera_utils (whose names of attributes these
are, except that times are UTC alone); S4P of NASA's Goddard Earth Sciences Data Center, `EDOS.pm`, whose numbers of
items are those of the interface control document of EDOS.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from graph.domains.data_files.new_files import AdditionalMetadata, NewFile, SortableMetadata
from graph.domains.data_files.times import days_of, time_text
from graph.domains.libera.apids import CONSTRUCTION_RECORD
from graph.domains.libera.edos_layout import (
    Bits,
    BrokenRecord,
    Characters,
    Flag,
    LayoutSource,
    Many,
    Number,
    Raw,
    Spare,
    Time,
    read,
)
from graph.domains.libera.names import LONGEST_RANGE, Level0Name, UnknownName

LARGEST_RECORD = 4 << 20  # bytes: some 80,000 gaps
PRODUCTION_DATA_SET = 1
SPACECRAFT = {157: "Suomi NPP", 159: "JPSS-1", 177: "JPSS-2", 178: "JPSS-3", 179: "JPSS-4"}
"""Those whose times are CCSDS day segmented. Earlier ones have times of the same size in another form (PB5)."""

SCID_APID = Bits(3, {"SCID": 8, "": 5, "APID": 11})

GAP = (  # item 24-6
    Number("first-missing-ssc", 4),
    Number("gap-byte-offset", 8),
    Number("n-missing-sscs", 4),
    Time("preceding-packet-utc-time"),
    Time("following-packet-utc-time"),
    Raw("preceding-packet-esh-time"),  # annotated by the ground station
    Raw("following-packet-esh-time"),
)
FILL = (  # item 24-7
    Number("ssc-with-generated-data", 4),
    Number("filled-byte-offset", 8),
    Number("index-to-fill-octet", 4),
)
APID = (  # item 24
    Spare(1),
    SCID_APID,
    Number("byte-offset", 8),
    Spare(3),
    Many("vcids", Number("n-vcids", 1, 1, 2), (Spare(2), Bits(2, {"": 2, "SCID": 8, "VCID": 6}))),
    Many("gaps", Number("n-ssc-gaps", 4), GAP),
    Many("fill", Number("n-edos-generated-fill-data", 4), FILL),
    Number("count-edos-generated-octets", 8),
    Many("discrepancies", Number("n-length-discrepancy-packets", 4), (Number("ssc-length-discrepancy", 4),)),
    Time("first-packet-utc-time"),
    Time("last-packet-utc-time"),
    Raw("first-packet-esh-time"),
    Raw("last-packet-esh-time"),
    Number("n-vcdu-corrected-packets", 4),
    Number("n-in-the-data-set", 4),
    Number("n-octets-in-apid", 8),
    Spare(8),
)
PDS_APID = (Spare(1), SCID_APID, Time("first-packet-utc-time"), Time("last-packet-utc-time"), Spare(4))
PDS_FILE = (  # item 25
    Characters("filename", 40),
    Spare(3),
    Many("apids", Number("n-apids", 1, 0, 100), PDS_APID, padded=True),
)
RECORD = (
    Number("edos-version-major", 1),
    Number("edos-version-minor", 1),
    Number("construction-record-type", 1, PRODUCTION_DATA_SET, PRODUCTION_DATA_SET),
    Spare(1),
    Characters("id", 36),
    Flag("test-flag"),
    Spare(9),
    Many("sessions", Number("n-scs-start-stops", 2), (Time("scs-start-utc-time"), Time("scs-stop-utc-time"))),
    Number("n-bytes-fill-data", 8),
    Number("n-length-mismatches", 4),
    Time("first-packet-utc-time"),
    Time("last-packet-utc-time"),
    Raw("first-packet-esh-time"),
    Raw("last-packet-esh-time"),
    Number("n-rs-corrections", 4),  # packets from units that were corrected by Reed-Solomon decoding
    Number("n-packets", 4),
    Number("size-bytes", 8),
    Number("n-ssc-discontinuities", 4),
    Time("completion-utc-time"),
    Spare(7),
    Many("apids", Number("n-apids", 1, 1, 100), APID),
    Spare(3),
    Many("files", Number("n-pds-files", 1, 1), PDS_FILE),
)


def read_construction_record(name: Level0Name, data: bytes) -> NewFile:
    """Read a construction record.

    Args:
        name: of its file.
        data: the whole record.

    Returns:
        The file with its documented items. What is repeated in the record has an item each time, with the same
        identifier. The record's own checksum and size are left to the caller.

    Raises:
        BrokenRecord: It is truncated, contradicts itself or its name, or is of a spacecraft with other times.
    """
    if name.spacecraft not in SPACECRAFT:
        known = ", ".join(f"{number} ({text})" for number, text in SPACECRAFT.items())
        raise BrokenRecord(f"It is of spacecraft {name.spacecraft:03}. Those with a known form of times are {known}.")
    source = LayoutSource(data)
    record = read(RECORD, source)
    source.end()
    _check(name, record)
    version = f"{record['edos-version-major']}.{record['edos-version-minor']}"
    return NewFile(
        name=name.text,
        level="L0",
        product=CONSTRUCTION_RECORD,
        algorithm_version=version,
        metadata={"edos-version": version},
        sortable=[_sortable(each) for each in record["apids"]],
        additional=list(_additional(record, name.text, version)),
    )


def _check(name: Level0Name, record: Mapping[str, Any]) -> None:
    """BrokenRecord if the record contradicts itself or its name."""
    if f"{record['id']}.PDS" != name.text:
        raise BrokenRecord(f"It is the record {record['id']!r}, and its file is {name.text!r}.")
    numbers = {(apid["SCID"], apid["APID"]) for apid in record["apids"]}
    _check_times("The data set", record)
    for apid in record["apids"]:
        _check_times(f"APID {apid['APID']}", apid)
    for file in record["files"]:
        try:
            of_file = Level0Name.parse(file["filename"])
        except UnknownName as error:
            raise BrokenRecord(f"It lists a file with an impossible name: {error}") from error
        if of_file.data_set != name.data_set:
            raise BrokenRecord(f"It lists a file of another data set, {file['filename']!r}.")
        for apid in file["apids"]:
            if (apid["SCID"], apid["APID"]) not in numbers:
                raise BrokenRecord(f"It lists a file with APID {apid['APID']}, which it does not describe.")
            _check_times(file["filename"], apid)


def _check_times(what: str, packets: Mapping[str, Any]) -> None:
    first, last = packets["first-packet-utc-time"], packets["last-packet-utc-time"]
    if last < first:
        raise BrokenRecord(f"{what} ends at {time_text(last)}, before it begins at {time_text(first)}.")
    if last - first > LONGEST_RANGE:
        raise BrokenRecord(f"{what} covers more than {LONGEST_RANGE.days} days.")


def _sortable(apid: Mapping[str, Any]) -> SortableMetadata:
    first, last = apid["first-packet-utc-time"], apid["last-packet-utc-time"]
    return SortableMetadata(
        type=f"APID{apid['APID']}",
        applicable_dates=days_of(first, last),
        first_packet_time=first,
        last_packet_time=last,
        missing_packet_count=sum(gap["n-missing-sscs"] for gap in apid["gaps"]),
        filled_gap_count=apid["n-edos-generated-fill-data"],
    )


def _additional(record: Mapping[str, Any], name: str, version: str) -> Iterator[AdditionalMetadata]:
    yield _item("CR", record, **{"edos-version": version})
    for number, session in enumerate(record["sessions"], start=1):
        yield _item(f"SCS-START-STOP#{number}", session)
    for apid in record["apids"]:
        identifier = f"APID{apid['APID']}"
        yield _item(identifier, apid, **{"edos-version": version})
        for kind, list_ in (
            ("VCID", "vcids"),
            ("SSC-GAPS", "gaps"),
            ("EDOS-FILL", "fill"),
            ("LENGTH-DISCREPANCY", "discrepancies"),
        ):
            for each in apid[list_]:
                yield _item(f"{identifier}#{kind}", each)
    for file in record["files"]:
        if file["filename"] == name:  # a record lists itself, too
            continue
        yield _item("PDS", file)
        for apid in file["apids"]:
            yield _item(f"PDS#APID{apid['APID']}", apid, filename=file["filename"])


def _item(identifier: str, values: Mapping[str, Any], **further: str) -> AdditionalMetadata:
    """The values that are no lists, with times as the table has them."""
    attributes = {name: value for name, value in values.items() if not isinstance(value, list)}
    texts = {name: time_text(value) for name, value in attributes.items() if isinstance(value, datetime)}
    return AdditionalMetadata(identifier=identifier, attributes={**further, **attributes, **texts})
