"""The demo: two days of files, with what each was made from."""

from pathlib import Path

import pytest

from graph.core.paging import Paging
from graph.domain import Services
from graph.domains import DOMAINS
from graph.domains.data_files.calibrations import Calibrations
from graph.domains.data_files.demo import DAYS, GAINS, L1A, L1B, L2, REGISTERED, RUNS, prepare
from graph.domains.data_files.libera.names import parse_name
from graph.domains.data_files.model import DataFile
from graph.domains.data_files.provenance.lineage import Direction, Lineages
from graph.domains.data_files.provenance.reprocessing import Reprocessing, ReprocessingState
from graph.domains.data_files.reading import DataFiles
from graph.domains.data_files.references import Version
from graph.domains.data_files.selection import FileSelection, VersionRule
from graph.opening import open_services
from graph.store.ordering import PageRequest
from tests.domains.entities import ENTITIES
from tests.settings import Settings
from tests.store.engines import make_tables

SENTENCE = "Registered 12 data files of two days, and 7 runs, as a demo."
SOME = PageRequest(Paging(50))
RECORDS, PACKETS = ([each[at].name for each in (REGISTERED[:2], REGISTERED[2:4])] for at in (0, 1))


@pytest.fixture
def store(engine: str, tmp_path: Path) -> str:
    """An empty store of each engine."""
    return f"sqlite:///{tmp_path}/demo.db" if engine == "sqlite" else f"dynamodb://{make_tables(ENTITIES)}"


async def of_day(services: Services, day: int) -> list[DataFile]:
    page = await services.of(DataFiles).page(FileSelection(first=DAYS[day], last=DAYS[day]), SOME)
    return list(page.records)


async def test_the_demo_is_stored_once_and_each_day_has_its_files(store: str) -> None:
    async with open_services(Settings(store=store, demo=True), DOMAINS) as services:
        assert [await prepare(services), await prepare(services)] == [SENTENCE, None]
        first, second = [{file.name for file in await of_day(services, day)} for day in (0, 1)]
        latest = await services.of(Calibrations).page("GAIN", VersionRule.ALL, SOME)

    assert first == {*RECORDS, L1A[0].name, L1B[0].name, L2[0].name}  # the second record crosses midnight
    assert second == {RECORDS[1], L1A[1].name, L1B[1].name, L2[1].name}
    assert [each.calibration_version for each in latest.records] == ["1.1.0", "1.0.0"]


async def test_every_file_of_the_demo_comes_from_its_packets(store: str) -> None:
    async with open_services(Settings(store=store, demo=True), DOMAINS) as services:
        await prepare(services)
        lineages = services.of(Lineages)
        made = [await lineages.of(Version(file.name, 1), Direction.UPSTREAM, 20, 100) for file in L2]
        again = await lineages.of(Version(L1B[0].name, 2), Direction.UPSTREAM, 20, 100)

    roots = [
        {node.revision.name for node in lineage.nodes if not node.revision.generated_by} for lineage in (*made, again)
    ]
    assert [lineage.is_complete for lineage in (*made, again)] == [True, True, True]
    assert roots == [
        {*RECORDS, *PACKETS, GAINS[0].name},
        {RECORDS[1], PACKETS[1], GAINS[0].name},
        {*RECORDS, *PACKETS, GAINS[1].name},
    ]


async def test_the_old_calibration_of_the_demo_affects_what_is_not_made_again(store: str) -> None:
    async with open_services(Settings(store=store, demo=True), DOMAINS) as services:
        await prepare(services)
        plan = await services.of(Reprocessing).plan([Version(GAINS[0].name, 1)])

    states = [[file.state for group in stage.groups for file in group.files] for stage in plan.stages]
    current, replaced = ReprocessingState.CURRENT, ReprocessingState.REPLACED
    assert states == [[replaced, current], [current, current]]


def test_a_run_of_the_demo_uses_only_what_is_there_before() -> None:
    known = {file.name for file in REGISTERED}
    for run in RUNS:
        assert {file.name for file in run.used} <= known
        known.add(run.generated.name)


def test_the_names_of_the_demo_are_those_of_libera() -> None:
    names = [file.name for file in (*REGISTERED, *L1A, *L1B, *L2)]

    assert [str(parse_name(name)) for name in names] == names


async def test_without_the_option_no_file_is_registered(store: str) -> None:
    async with open_services(Settings(store=store), DOMAINS) as services:
        assert await prepare(services) is None
        assert not (await services.of(DataFiles).page(FileSelection(), SOME)).records
