"""The demo: two days of files, with what each was made from."""

from pathlib import Path

from graph.core.paging import Paging
from graph.domain import Services
from graph.domains import DOMAINS
from graph.domains.data_files.calibrations import Calibrations
from graph.domains.data_files.provenance.demo import DAYS, GAINS, L1A, L1B, L2, REGISTERED, prepare
from graph.domains.data_files.provenance.edges import Edges
from graph.domains.data_files.provenance.lineage import Direction, lineage_of
from graph.domains.data_files.provenance.reprocessing import ReprocessingState, plan_of
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.references import Version
from graph.domains.data_files.selection import FileSelection, VersionRule
from graph.domains.libera.names import parse_name
from graph.opening import open_services
from graph.store.ordering import PageRequest
from tests.domains.entities import ENTITIES
from tests.settings import Settings
from tests.store.engines import make_tables

SENTENCE = "Registered 12 data files of two days, and 7 runs, as a demo."
SOME = PageRequest(Paging(50))
RECORDS, PACKETS = ([each[at].name for each in (REGISTERED[:2], REGISTERED[2:4])] for at in (0, 1))


async def of_day(services: Services, day: int) -> set[str]:
    page = await services.of(DataFiles).page(FileSelection(first=DAYS[day], last=DAYS[day]), SOME)
    return {file.name for file in page.records}


async def test_the_demo_is_stored_once_and_is_complete(engine: str, folder: Path) -> None:
    store = f"sqlite:///{folder}/demo.db" if engine == "sqlite" else f"dynamodb://{make_tables(ENTITIES)}"
    async with open_services(Settings(store=store), DOMAINS) as services:
        assert await prepare(services) is None
        assert not await of_day(services, 0)
    async with open_services(Settings(store=store, demo=True), DOMAINS) as services:
        assert [await prepare(services), await prepare(services)] == [SENTENCE, None]
        days = [await of_day(services, 0), await of_day(services, 1)]
        gains = await services.of(Calibrations).page("GAIN", VersionRule.ALL, SOME)
        lineages = [
            await lineage_of(services.of(Edges), version, Direction.UPSTREAM, 20, 100)
            for version in (*(Version(file.name, 1) for file in L2), Version(L1B[0].name, 2))
        ]
        plan = await plan_of(services.of(Edges), [Version(GAINS[0].name, 1)])

    assert days == [
        {*RECORDS, L1A[0].name, L1B[0].name, L2[0].name},  # the second record crosses midnight
        {RECORDS[1], L1A[1].name, L1B[1].name, L2[1].name},
    ]
    assert [each.calibration_version for each in gains.records] == ["1.1.0", "1.0.0"]
    assert all(lineage.is_complete for lineage in lineages)
    sources = [{n.file.name for n in lineage.nodes if not n.file.generated_by} for lineage in lineages]
    assert sources == [
        {*RECORDS, *PACKETS, GAINS[0].name},
        {RECORDS[1], PACKETS[1], GAINS[0].name},
        {*RECORDS, *PACKETS, GAINS[1].name},
    ]
    states = [[file.state for group in stage.groups for file in group.files] for stage in plan.stages]
    current, replaced = ReprocessingState.CURRENT, ReprocessingState.REPLACED
    assert states == [[replaced, current], [current, current]]  # what is not made again is affected


def test_the_names_of_the_demo_are_those_of_libera() -> None:
    names = [file.name for file in (*REGISTERED, *L1A, *L1B, *L2)]

    assert [parse_name(name).text for name in names] == names
