"""Large requests let others run in between, and lists pay for the days that they plan."""

from collections.abc import AsyncIterator
from datetime import date, timedelta

import pytest

from graph.core.errors import QueryTooComplex
from graph.core.paging import Paging
from graph.domains.data_files.entities import DAY
from graph.domains.data_files.reading import DAYS_PER_PIECE
from graph.domains.data_files.registering import CHECKED_AT_ONCE
from graph.domains.data_files.selection import FileSelection, VersionRule
from graph.store.contract import Put
from graph.store.ordering import PageRequest
from graph.work.account import Work, charged_to
from tests.domains.data_files.in_store import FileStore, a_file, data_files, names
from tests.domains.earthquakes.test_giving_way import CountedPace
from tests.work.accounts import an_account

FILES = 1000  # the most of one request
DAYS = 600


@pytest.fixture
async def ours() -> AsyncIterator[FileStore]:
    async with data_files("sqlite") as ours:
        yield ours


async def test_registering_and_using_many_files_offers_to_give_way_while_they_are_checked(ours: FileStore) -> None:
    pace = CountedPace()
    with charged_to(an_account(Work(pace=pace))):
        report = await ours.register(*(a_file(name, 1) for name in names(FILES)))
    assert report.registered == FILES
    steps = 4  # check, make the items, measure them, and measure them again without those written ahead
    assert pace.offers >= steps * FILES // CHECKED_AT_ONCE

    pace = CountedPace()
    with charged_to(an_account(Work(pace=pace))):
        run = await ours.run(1, used=names(FILES))
    assert len(run.used) == FILES
    assert pace.offers >= FILES // CHECKED_AT_ONCE


@pytest.mark.parametrize("version", [VersionRule.ALL, VersionRule.LATEST], ids=["all", "latest"])
async def test_a_list_that_matches_nothing_gives_way_between_days_and_pays_for_them(
    ours: FileStore, version: VersionRule
) -> None:
    days = [(date(2020, 1, 1) + timedelta(days=number)).isoformat() for number in range(DAYS)]
    await ours.database.put_many([Put(DAY, {"day": day, "items": 1, "L0#RAD#1.0": 1}) for day in days])
    selection, request = FileSelection(level="L2", version=version), PageRequest(Paging(size=10), None)

    pace = CountedPace()
    with charged_to(an_account(Work(pace=pace))) as account:
        page = await ours.files.page(selection, request)
    assert page.records == []
    assert pace.offers >= DAYS // DAYS_PER_PIECE
    assert account.spent == DAYS // 10

    with charged_to(an_account(most=DAYS // 20)), pytest.raises(QueryTooComplex):
        await ours.files.page(selection, request)
