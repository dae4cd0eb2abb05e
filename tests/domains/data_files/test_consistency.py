"""Two processes register the same files at the same time: each content is a revision once, and all counts are exact."""

import asyncio
from pathlib import Path

from graph.domains.data_files.entities import FILE_REVISION
from tests.domains.data_files.in_store import a_file, checksum, two_processes

ROUNDS = 4


async def test_files_that_two_processes_register_at_once_are_registered_once(engine: str, tmp_path: Path) -> None:
    files = [a_file(f"{number}.nc", 1, 2, checksum=checksum(number)) for number in range(20)]
    async with two_processes(engine, tmp_path) as (first, second):
        reports = await asyncio.gather(first.register(*files), second.register(*files[::-1]))
        assert sum(report.registered for report in reports) == len(files)
        assert sum(report.skipped for report in reports) == len(files)
        assert {item["revision"] for item in await first.items(FILE_REVISION)} == {1}
        await second.check_whole()


async def test_contents_that_two_processes_register_at_once_are_revisions_in_a_row(engine: str, tmp_path: Path) -> None:
    async with two_processes(engine, tmp_path) as both:
        for number in range(ROUNDS):
            contents = [a_file("a.nc", 1 + at, type=f"T{at}", checksum=checksum(2 * number + at)) for at in (0, 1)]
            reports = await asyncio.gather(*(ours.register(file) for ours, file in zip(both, contents, strict=True)))
            assert [report.registered for report in reports] == [1, 1]
        assert len(await both[0].items(FILE_REVISION)) == 2 * ROUNDS
        await both[1].check_whole()
