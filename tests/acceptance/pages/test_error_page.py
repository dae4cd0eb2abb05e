"""The page of an error, in Chromium."""

import pytest

from tests.acceptance.browser import Visit
from tests.acceptance.pages.axe import violations
from tests.service import Service


@pytest.mark.needs("chromium", "npm")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/nowhere", "/events/us0nothing"])
async def test_axe_finds_nothing(visit: Visit, week: Service, path: str, scheme: str) -> None:
    await visit.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    answer = await visit.page.goto(f"{week.url}{path}")

    assert answer
    assert answer.status == 404
    assert await violations(visit.page) == []
