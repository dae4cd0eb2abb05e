"""What browsers load of the bundle, and of the modules one by one without it."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from graph.pages import dashboard
from graph.pages.dashboard.templates import UNBUNDLED, imported_by
from tests.acceptance.browser import Visit
from tests.acceptance.pages.dashboard.looking import settled

JAVA = "us6000kxp7"
needs_bundle = pytest.mark.needs("the dashboard's bundle")
needs_browser = pytest.mark.needs("chromium", "the web pages' packages")


@needs_bundle
@needs_browser
async def test_a_page_loads_one_module_and_one_style_sheet(visit: Visit, shared: str) -> None:
    for path, text in {"": "185 events", f"events/{JAVA}": "Java, Indonesia"}.items():
        visit.requested.clear()
        await visit.page.goto(f"{shared}/{path}")
        await expect(visit.page.locator("main")).to_contain_text(text)

        own = [url for url in visit.requested if "/dashboard/" in url and url.endswith((".js", ".css"))]
        assert sorted(Path(url).suffix for url in own if "/packages/" not in url) == [".css", ".js"]


@needs_browser
async def test_without_a_bundle_the_page_loads_its_modules_at_once(visit: Visit, from_modules: str) -> None:
    await visit.page.goto(from_modules)
    await settled(visit.page)

    modules = imported_by("main.js", UNBUNDLED)
    folder = f"/dashboard/{dashboard.VERSION}/"
    loaded = [url.partition(folder)[2] for url in visit.requested if folder in url]
    assert sorted(name for name in loaded if name.endswith(".js")) == modules
    assert await visit.page.locator("[rel=modulepreload]").count() == len(modules)
    assert visit.complaints == []
