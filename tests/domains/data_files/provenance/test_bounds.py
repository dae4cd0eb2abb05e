"""What no run can be is refused with a reason, and nothing is stored of it."""

from typing import Any

import pytest

from graph.core.errors import BadUserInput
from graph.domains.data_files.entities import RUN, USED
from graph.domains.data_files.errors import UnknownVersion
from graph.domains.data_files.model import RunState
from graph.domains.data_files.new_files import AdditionalMetadata, NewFile
from graph.domains.data_files.provenance.recording import MOST_USED
from graph.domains.data_files.provenance.reports import RunReport, UsedFile
from graph.store.values import ITEM_BYTES, item_bytes
from tests.domains.data_files.provenance.in_store import ProvenanceStore, a_report, names, provenance
from tests.domains.data_files.provenance.whole import assert_whole, items
from tests.domains.entities import documented


async def refusal(ours: ProvenanceStore, report: RunReport, kind: type[BadUserInput] = BadUserInput) -> str:
    """Why a report is refused."""
    stored = await ours.everything()
    with pytest.raises(kind) as refused:
        await ours.runs.record(report)
    assert await ours.everything() == stored
    return str(refused.value)


async def test_a_run_uses_a_thousand_files() -> None:
    async with provenance("sqlite") as ours:
        await ours.register(*names(MOST_USED))
        run = await ours.run(1, used=names(MOST_USED), makes=["made"])
        assert len(run.used) == len(await items(ours, USED)) == MOST_USED
        await assert_whole(ours)


@pytest.mark.parametrize("report", [a_report(1, used=names(MOST_USED + 1)), a_report(1, makes=names(MOST_USED + 1))])
async def test_a_report_names_at_most_a_thousand_files(report: RunReport) -> None:
    async with provenance("sqlite") as ours:
        message = "A run uses or generates at most 1,000 files in one report."
        assert await refusal(ours, report) == message


@pytest.mark.parametrize(
    "run_id",
    ["", "1", "x" * 36, "0" * 36, "00000000-0000-4000-8000-00000000000A", "{00000000-0000-4000-8000-0000000000}", "é"],
)
async def test_the_id_of_a_run_is_a_uuid(run_id: str) -> None:
    async with provenance("sqlite") as ours:
        message = "`runId` must be a UUID, in lower case and with hyphens."
        assert await refusal(ours, RunReport(algorithm="a", run_id=run_id)) == message


@pytest.mark.parametrize("name", ["", "x" * 401, "x" * 100_000, "\ud800", "é" * 1000])
async def test_a_name_that_no_file_can_have_is_unknown(engine: str, name: str) -> None:
    async with provenance(engine) as ours:
        message = await refusal(ours, a_report(1, used=[UsedFile(name)]), UnknownVersion)
        assert len(message) < 5000
        assert await refusal(ours, a_report(1, used=[UsedFile(name, may_be_unknown=True)]))
        assert len(await refusal(ours, a_report(1, makes=[NewFile(name=name)]))) < 5000


@pytest.mark.parametrize("name", ["\n", "a\x00b"])
async def test_a_name_with_a_control_is_refused(name: str) -> None:
    async with provenance("sqlite") as ours:
        assert await refusal(ours, a_report(1, used=[UsedFile(name, may_be_unknown=True)]))
        assert await refusal(ours, a_report(1, makes=[NewFile(name=name)]))


@pytest.mark.parametrize("revision", [-1, 0, 2, 999_999, 1_000_000, 2**70])
async def test_a_revision_that_is_not_registered_is_unknown(engine: str, revision: int) -> None:
    async with provenance(engine) as ours:
        await ours.register("a")
        message = await refusal(ours, a_report(1, used=[UsedFile("a", revision)]), UnknownVersion)
        assert message == f"Revision {revision} of 'a' is not registered: name a registered one, or register it first."


@pytest.mark.parametrize("name", ["a b", "@", "a@", "@1", "a@1", "a@1@1", "é", "/", "..", "RUN", "#", "'\"", "x" * 400])
async def test_odd_names_are_names(engine: str, name: str) -> None:
    async with provenance(engine) as ours:
        await ours.register(name, NewFile(name=name, checksum="0" * 32))
        run = await ours.run(1, used=[UsedFile(name)], makes=[NewFile(name=f"{name[:399]}!")])
        assert [tuple(version) for version in (*run.used, *run.generated)] == [(name, 2), (f"{name[:399]}!", 1)]
        lineage = await ours.lineage(f"{name}@2")
        assert [node.revision.name for node in lineage.nodes] == [name, f"{name[:399]}!"]
        await assert_whole(ours)


async def test_a_run_with_too_many_long_names_is_refused(engine: str) -> None:
    async with provenance(engine) as ours:
        long = [f"{number:0400}" for number in range(300)]
        await ours.register(*long)
        message = await refusal(ours, a_report(1, used=long))
        assert message.startswith("`used` has ")
        assert message.endswith(" bytes, but may have at most 120000.")


async def test_the_largest_run_fits_into_an_item() -> None:
    async with provenance("sqlite") as ours:
        used, makes = ([f"{of}{number:0399}" for number in range(290)] for of in "ab")
        outputs = [f"c{number:0399}" for number in range(75)]
        await ours.register(*used, *makes)
        facets = {"text": "x" * 32_000}
        told: dict[str, Any] = {"version": "v" * 64, "namespace": "n" * 400, "producer": "p" * 1024}
        told |= {"algorithm": "é" * 1024, "facets": facets, "outputs": outputs, "state": RunState.RUNNING}
        await ours.run(1, used=used, makes=makes, **told)
        (run,) = await items(ours, RUN)
        assert 290_000 < item_bytes(documented(RUN, run)) < ITEM_BYTES


DEEP: list[Any] = []
for _ in range(40):
    DEEP = [DEEP]

TOO_MUCH = AdditionalMetadata(identifier="PDS", attributes={"text": "x" * 500_000})


@pytest.mark.parametrize(
    "told",
    [
        {"facets": {"text": "x" * 40_000}},
        {"facets": {"deep": DEEP}},
        {"facets": {"number": float("nan")}},
        {"facets": {"number": 2**64}},
        {"facets": {"text": "\ud800"}},
        {"algorithm": "x" * 1025},
        {"algorithm": "\ud800"},
        {"version": "x" * 65},
        {"namespace": "x" * 401},
        {"producer": "x" * 1025},
        {"configuration_hash": "x" * 129},
        {"outputs": ["x" * 300 + str(number) for number in range(200)]},
        {"outputs": ["x" * 401]},
        {"makes": [NewFile(name="a", metadata={"text": "x" * 70_000})]},
        {"makes": [NewFile(name="a", metadata={"number": float("inf")})]},
        {
            "makes": [
                NewFile(name="a", additional=[AdditionalMetadata(identifier="PDS", attributes={"x": "x" * 500_000})])
            ]
        },
    ],
    ids=lambda told: "-".join(told),
)
async def test_what_is_too_large_for_a_run_is_refused(told: dict[str, Any]) -> None:
    async with provenance("sqlite") as ours:
        await ours.register("used")
        message = await refusal(ours, a_report(1, **{"used": ["used"], **told}))
        assert message.endswith(".")
        assert len(message) < 1000
