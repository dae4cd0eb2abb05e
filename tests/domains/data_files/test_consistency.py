"""Two processes register the same files at the same time: each content is a revision once, and all counts are exact."""

import asyncio
from pathlib import Path

from graph.domains.data_files.entities import ENTITIES, FILE_REVISION
from tests.domains.data_files.in_store import a_file, checksum, data_files_at
from tests.domains.data_files.whole import assert_whole
from tests.store.engines import new_store

ROUNDS = 4


async def test_what_two_processes_register_at_once_is_registered_once(engine: str, tmp_path: Path) -> None:
    files = [a_file(f"{number}.nc", 1, 2, checksum=checksum(number)) for number in range(20)]
    url = await new_store(engine, tmp_path, ENTITIES)
    async with data_files_at(url) as first, data_files_at(url) as second:
        reports = await asyncio.gather(first.register(*files), second.register(*files[::-1]))
        assert sum(report.registered for report in reports) == len(files)
        assert sum(report.skipped for report in reports) == len(files)
        assert {item["revision"] for item in await first.items(FILE_REVISION)} == {1}

        for number in range(ROUNDS):  # other contents are revisions in a row
            contents = [a_file("a.nc", 1 + at, type=f"T{at}", checksum=checksum(2 * number + at)) for at in (0, 1)]
            reports = await asyncio.gather(first.register(contents[0]), second.register(contents[1]))
            assert [report.registered for report in reports] == [1, 1]
        assert len(await second.items(FILE_REVISION)) == len(files) + 2 * ROUNDS
        await assert_whole(second)
