"""The page of an error, in Chromium."""

import pytest

from tests.acceptance.browser import Visit
from tests.acceptance.pages.axe import violations
from tests.service import Service


@pytest.mark.needs("chromium", "npm")
async def test_axe_finds_nothing(visit: Visit, week: Service) -> None:
    for path in ("/nowhere", "/events/us0nothing"):
        answer = await visit.page.goto(f"{week.url}{path}")
        assert answer
        assert answer.status == 404
        assert await violations(visit.page) == [], path
