"""A file that breaks a rule is refused with its code and its place, and its neighbours are registered.

What no engine can store must be among the rules: otherwise it would be a failure of the service.
"""

from dataclasses import replace
from typing import Any

from graph.domains.data_files.entities import FILE
from graph.domains.data_files.model import LONGEST_NAME, LONGEST_NAME_BYTES, RegistrationProblem
from graph.domains.data_files.new_files import AdditionalMetadata, CalibrationMetadata, NewFile, SortableMetadata
from graph.domains.data_files.provenance.reports import UsedFile
from graph.domains.data_files.references import Version
from tests.domains.data_files.in_store import a_calibration, a_file, checksum, data_files, day, distances, items
from tests.domains.data_files.whole import assert_whole

SATELLITE = "\U0001f6f0"  # four bytes of UTF-8
TOO_LARGE = {"text": "x" * 500_000}


def an_item(identifier: str = "PDS", /, **attributes: Any) -> dict[str, Any]:
    """Additional metadata of one item."""
    return {"additional": [AdditionalMetadata(identifier=identifier, attributes=attributes)]}


def data(**told: Any) -> dict[str, Any]:
    """Sortable metadata of one part."""
    return {"sortable": [SortableMetadata(**{"applicable_dates": [day(1)], **told})]}


REFUSED: list[tuple[RegistrationProblem, dict[str, Any]]] = [
    *(
        (RegistrationProblem.NAME_INVALID, {"name": name})
        for name in ("", "a\nb", "a\0", "\ud800", "\u200b", "\U0010ffff")
    ),
    (RegistrationProblem.FILE_INVALID, {"name": "n" * (LONGEST_NAME + 1)}),
    (RegistrationProblem.NAME_INVALID, {"name": SATELLITE * (LONGEST_NAME_BYTES // 4 + 1)}),
    *(
        (RegistrationProblem.CHECKSUM_INVALID, {"checksum": text})
        for text in ("0", "g" * 32, "0" * 33, "٠" * 32, "\0" * 32)
    ),
    *((RegistrationProblem.FILE_INVALID, {"level": text}) for text in ("", "L0#", "é", "\0", "L" * 65)),
    *((RegistrationProblem.FILE_INVALID, {"product": text}) for text in ("", "A#B", " ", "\ud800", "P" * 65)),
    *((RegistrationProblem.FILE_INVALID, {"algorithm_version": text}) for text in ("", "1 0", "é", "\0", "1" * 65)),
    *((RegistrationProblem.FILE_INVALID, {"url": text}) for text in ("\ud800", "u" * 1025)),
    *((RegistrationProblem.FILE_INVALID, {"namespace": text}) for text in ("\ud800", "n" * (LONGEST_NAME + 1))),
    *((RegistrationProblem.FILE_INVALID, {"size": size}) for size in (-1, 2**63)),
    *((RegistrationProblem.FILE_INVALID, data(type=text)) for text in ("", "\0", "a\n", "\ud800", "t" * 101)),
    *((RegistrationProblem.METADATA_INVALID, data(missing_packet_count=number)) for number in (-1, 2**63)),
    *((RegistrationProblem.METADATA_INVALID, data(**told)) for told in ({"filled_gap_count": -1}, {"type": "t" * 65})),
    (RegistrationProblem.FILE_INVALID, {**data(), "level": None}),
    *(
        (RegistrationProblem.METADATA_INVALID, {"metadata": each})
        for each in ({"a": 1e200}, {"a": float("nan")}, {"a": "\ud800"})
    ),
    *((RegistrationProblem.METADATA_INVALID, {"metadata": each}) for each in (TOO_LARGE, {"a": 10**40}, {"\ud800": 1})),
    *((RegistrationProblem.METADATA_INVALID, an_item(text)) for text in ("", "\0", "\ud800", "i" * 101)),
    *((RegistrationProblem.METADATA_INVALID, an_item(**{name: "x"})) for name in ("PK", "SK", "", "identifier")),
    *(
        (RegistrationProblem.METADATA_INVALID, an_item(**{name: "x"}))
        for name in ("applicable-date", "calibration-order")
    ),
    *((RegistrationProblem.METADATA_INVALID, an_item(**{name: "x"})) for name in ("\ud800", "n" * 65_536)),
    *(
        (RegistrationProblem.METADATA_INVALID, an_item(x=value))
        for value in (1e200, float("inf"), "\ud800", 10**40, {"y": "\ud800"})
    ),
    (RegistrationProblem.METADATA_INVALID, an_item(**TOO_LARGE)),
    (RegistrationProblem.TOO_MANY_ITEMS, {"additional": items(401)}),
    (RegistrationProblem.METADATA_INVALID, {"additional": items(300, SATELLITE * 100)}),
    *((RegistrationProblem.FILE_INVALID, {"calibrations": [CalibrationMetadata(of, "1")]}) for of in ("", "#")),
    (RegistrationProblem.FILE_INVALID, {"calibrations": [CalibrationMetadata("L0", "1 ")]}),
    (RegistrationProblem.FILE_INVALID, {"calibrations": [CalibrationMetadata("L0", v) for v in "12"]}),
]


async def test_each_file_is_refused_by_itself_with_its_place(engine: str) -> None:
    bad = [NewFile(**{"name": f"bad{number}.nc", "level": "L0", **told}) for number, (_, told) in enumerate(REFUSED)]
    good = [a_file(f"good{number}.nc", 1) for number in range(len(REFUSED))]
    async with data_files(engine) as ours:
        report = await ours.registration.register([file for pair in zip(good, bad, strict=True) for file in pair])

        for number, (rejection, (code, told)) in enumerate(zip(report.rejections, REFUSED, strict=True)):
            expected = (2 * number + 1, bad[number].name, code)
            assert (rejection.index, rejection.name, rejection.code) == expected, told
            assert rejection.message.endswith("."), told
        assert (report.registered, report.rejected) == (len(good), len(bad))
        assert {item["file-name"] for item in await ours.items(FILE)} == {file.name for file in good}
        await assert_whole(ours)


NAMES = (
    *("a@1", "a@", "@", "#", "#PDS", "a#b", "a/b/c", "s3://bucket/é ü.nc", "DAYS", "CALIBRATED", "LATE_RUNS"),
    *("RUN#00000000-0000-7000-8000-000000000000", "USED#a@1", "REV#000001", "e\u0301", "\u00e9", "名前", "%00"),
    *(
        SATELLITE * (LONGEST_NAME_BYTES // 4),
        "é" * LONGEST_NAME,
        "x" * LONGEST_NAME,
        " a",
        "a ",
        "a b",
        "{name}",
        "/",
        "..",
        "'\"",
    ),
    *("RUN", "@1", "a@1@1"),
)


async def test_any_printable_name_is_that_of_one_file_in_all_of_the_keys(engine: str) -> None:
    files = [
        a_file(
            name,
            1,
            type="T" * 64,
            level="L" * 32,
            checksum=checksum(1),
            calibrations=a_calibration(name, "1.0.0rc1", "C" * 64).calibrations,
            **an_item("i" * 100, x=1),
        )
        for name in NAMES
    ]
    identifiers = sorted([f"CAL#{'C' * 64}", f"{'L' * 32}#{'T' * 64}", "i" * 100])
    async with data_files(engine, [*files, *files]) as ours:
        run = await ours.run(1, used=[UsedFile(name) for name in NAMES], makes=["l1a.nc"])
        assert run.used == [Version(name, 1) for name in NAMES]
        for name in NAMES:
            assert await ours.identifiers(name) == identifiers
            assert Version.of(Version(name, 7).reference) == Version(name, 7)
            assert distances(await ours.lineage(f"{name}@1")) == {f"{name}@1": 0, "l1a.nc@1": 1}
        assert {item["file-name"] for item in await ours.items(FILE)} == {*NAMES, "l1a.nc"}
        await assert_whole(ours)


async def test_large_metadata_of_many_files_fit_the_transactions(engine: str) -> None:
    """DynamoDB takes at most 4 MB at once."""
    large = {"text": "x" * 60_000}
    files = [a_file(f"{number}.nc", metadata=large) for number in range(45)]
    async with data_files(engine) as ours:
        assert (await ours.register(*files)).registered == 45


async def test_a_revision_whose_items_are_too_large_together_is_refused_alone(engine: str) -> None:
    """Those of a new file are written before anybody sees it."""
    large = a_file("large.nc", additional=items(15, text="x" * 300_000))
    async with data_files(engine, [large]) as ours:
        report = await ours.registration.register([a_file("a.nc"), replace(large, size=1), a_file("b.nc")])
        assert [(each.index, each.code) for each in report.rejections] == [(1, RegistrationProblem.TOO_MANY_ITEMS)]
        assert report.registered == 2
        assert len(await ours.identifiers("large.nc")) == 15
        await assert_whole(ours)
