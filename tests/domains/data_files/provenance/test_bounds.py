"""What no run can be is refused with a reason, and nothing is stored of it."""

from typing import Any

import pytest

from graph.core.errors import BadUserInput
from graph.domains.data_files.entities import RUN
from graph.domains.data_files.errors import UnknownVersion
from graph.domains.data_files.model import RunState
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.provenance.recording import MOST_USED
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.store.values import ITEM_BYTES, item_bytes
from tests.domains.data_files.in_store import FileStore, a_report, data_files, items, names, references
from tests.domains.data_files.whole import assert_whole
from tests.domains.entities import documented


async def refusal(ours: FileStore, report: RunReport, kind: type[BadUserInput] = BadUserInput) -> str:
    """Why a report is refused."""
    stored = await ours.everything()
    with pytest.raises(kind) as refused:
        await ours.runs.record(report)
    assert await ours.everything() == stored
    return str(refused.value)


async def test_a_run_uses_and_generates_a_thousand_new_files_and_no_more_and_their_names_have_a_bound() -> None:
    async with data_files("sqlite") as ours:
        for report in (a_report(1, used=names(MOST_USED + 1)), a_report(1, makes=names(MOST_USED + 1))):
            message = "A run uses or generates at most 1,000 files in one report."
            assert await refusal(ours, report) == message

        long = [f"{number:0400}" for number in range(300)]
        message = await refusal(ours, a_report(1, used=[UsedFile(name, may_be_unknown=True) for name in long]))
        assert message.startswith("`used` has ")
        assert message.endswith(" bytes, but may have at most 120000.")

        used, makes = names(MOST_USED, "used"), names(MOST_USED, "made")
        report = a_report(1, used=[UsedFile(name, may_be_unknown=True) for name in used], makes=makes)
        run = await ours.runs.record(report)
        assert references(run.used) == [f"{name}@1" for name in used]
        assert references(run.generated) == [f"{name}@1" for name in makes]
        assert (await ours.runs.record(report)).item == run.item
        await assert_whole(ours)


async def test_what_is_not_registered_is_unknown(engine: str) -> None:
    async with data_files(engine) as ours:
        await ours.register("a")
        for number in (-1, 0, 2, 999_999, 1_000_000, 2**70):
            message = await refusal(ours, a_report(1, used=[UsedFile("a", number)]), UnknownVersion)
            expected = f"Revision {number} of 'a' is not registered: name a registered one, or register it first."
            assert message == expected
        for name in ("", "x" * 401, "x" * 100_000, "\ud800", "é" * 1000, "\n", "a\x00b"):  # which no file can have
            assert len(await refusal(ours, a_report(1, used=[UsedFile(name)]), UnknownVersion)) < 5000
            assert await refusal(ours, a_report(1, used=[UsedFile(name, may_be_unknown=True)]))
            assert len(await refusal(ours, a_report(1, makes=[NewFile(name=name)]))) < 5000


async def test_the_largest_run_fits_into_an_item(engine: str) -> None:
    async with data_files(engine) as ours:
        used, makes = ([f"{of}{number:0399}" for number in range(290)] for of in "ab")
        outputs = [f"c{number:0399}" for number in range(75)]
        await ours.register(*used, *makes)
        facets = {"text": "x" * 32_000}
        told: dict[str, Any] = {"version": "v" * 64, "namespace": "n" * 400, "producer": "p" * 1024}
        told |= {"algorithm": "é" * 1024, "facets": facets, "outputs": outputs, "state": RunState.RUNNING}
        await ours.run(1, used=used, makes=makes, **told)
        (run,) = await ours.items(RUN)
        assert 290_000 < item_bytes(documented(RUN, run)) < ITEM_BYTES


NIL = "00000000-0000-4000-8000-000000000000"
DEEP: list[Any] = []
for _ in range(40):
    DEEP = [DEEP]

TOO_MUCH: tuple[dict[str, Any], ...] = (
    *({"facets": {"x": each}} for each in ("x" * 40_000, DEEP, float("nan"), 2**64, "\ud800")),
    *({"algorithm": text} for text in ("x" * 1025, "\ud800")),
    *({"version": "x" * 65}, {"namespace": "x" * 401}, {"producer": "x" * 1025}, {"configuration_hash": "x" * 129}),
    *({"outputs": each} for each in (["x" * 300 + str(number) for number in range(200)], ["x" * 401])),
    *({"makes": [NewFile(name="a", metadata={"x": each})]} for each in ("x" * 70_000, float("inf"))),
    {"makes": [NewFile(name="a", additional=items(1, text="x" * 500_000))]},
)


async def test_what_is_too_large_for_a_run_and_what_is_no_id_of_one_is_refused() -> None:
    async with data_files("sqlite") as ours:
        await ours.register("used")
        for told in TOO_MUCH:
            message = await refusal(ours, a_report(1, **{"used": ["used"], **told}))
            assert message.endswith("."), told
            assert len(message) < 1000
        for run_id in ("", "1", "x" * 36, "0" * 36, f"{NIL[:-1]}A", f"{{{NIL}}}", "é"):
            message = "`runId` must be a UUID, in lower case and with hyphens."
            assert await refusal(ours, RunReport(algorithm="a", run_id=run_id)) == message
