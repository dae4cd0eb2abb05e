"""The page in React of docs/clients/javascript.md, as Chromium shows it, from another origin than the service's."""

import re
import shlex
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from starlette.applications import Starlette
from starlette.staticfiles import StaticFiles

from tests.acceptance.browser import Visit
from tests.acceptance.clients.documented.programs import at, blocks, run
from tests.bearers import bearer
from tests.service import serving
from tests.settings import Settings
from tests.subscribers import LiveService, live_service

pytestmark = [pytest.mark.judged, pytest.mark.needs("npm", "Node 20", "chromium")]

PAGE, HEADING = "docs/clients/javascript.md", "A page in React"
TOKEN = bearer()["Authorization"].removeprefix("Bearer ")


@dataclass(frozen=True)
class Built:
    """The page, built for a service."""

    service: LiveService
    url: str  # of an origin that the service allows
    foreign_url: str  # the same page, of an origin that it does not allow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, node_modules: Path, week_file: Path) -> Iterator[Built]:
    """The page and its service, whose catalogue begins with the week."""
    folder = tmp_path_factory.mktemp("page")
    shutil.copy(week_file, folder / "week.db")
    site = folder / "site"
    (site / "src").mkdir(parents=True)
    (site / "node_modules").symlink_to(node_modules)
    with ExitStack() as stack:
        app = Starlette()
        url, foreign_url = (stack.enter_context(serving(app)) for _ in range(2))
        settings = Settings(store=f"sqlite:///{folder}/week.db", cors_origins=(url,))
        service = stack.enter_context(live_service(settings))
        _build(site, service.url)
        app.mount("/", StaticFiles(directory=site, html=True))
        yield Built(service, url, foreign_url)


def _build(site: Path, url: str) -> None:
    """Run the commands of the page, with the packages in place of those that `npx` would fetch."""
    (configuration,) = blocks(PAGE, "GraphQL Code Generator", "yaml")
    (program,) = blocks(PAGE, HEADING, "tsx")
    (site / "index.html").write_text(blocks(PAGE, HEADING, "html")[0])
    (site / "codegen.yml").write_text(at(url, configuration))
    (site / "src" / "page.tsx").write_text(at(url, program))
    for command in re.findall(r"^npx (.*)$", "".join(blocks(PAGE, HEADING, "sh")), re.MULTILINE):
        program, *arguments = shlex.split(command)
        run(f"node_modules/.bin/{program}", *arguments, folder=site)


@pytest_asyncio.fixture(loop_scope="session")
async def opened(built: Built, page: Page) -> AsyncIterator[Page]:
    """The page, which shows the first events of its filter and follows it."""
    await page.goto(built.url)
    await expect(page.locator("ol > li").first).to_contain_text("5.5 Java, Indonesia")
    await built.service.has_subscriptions(1)
    yield page
    await page.goto("about:blank")
    await built.service.has_subscriptions(0)


async def store(page: Page, event_id: str, mag: float, place: str, token: str = TOKEN) -> None:
    """Store an event by the page's form."""
    values = {"Token": token, "Event id": event_id, "Place": place, "Magnitude": str(mag)}
    for name, value in values.items():
        await page.get_by_placeholder(name, exact=True).fill(value)
    await page.get_by_role("button", name="Store").click()


async def test_the_end_of_the_list_loads_the_next_page(opened: Page) -> None:
    events = opened.locator("ol > li:has(time)")
    await expect(events).to_have_count(50)

    await opened.locator("ol > li").last.scroll_into_view_if_needed()

    await expect(events).to_have_count(81)
    await expect(opened.get_by_text("More …")).to_have_count(0)


async def test_a_filter_makes_another_list(opened: Page) -> None:
    await opened.get_by_label("Place").fill("alaska")
    await opened.get_by_label("Magnitude from").select_option("2.5")

    events = opened.locator("ol > li:has(time)")
    await expect(events.first).to_contain_text("Alaska")
    assert all("Alaska" in text for text in await events.all_text_contents())


async def test_a_stored_event_appears_and_leaves_with_the_revision_that_takes_it_below_the_filter(
    opened: Page,
) -> None:
    first = opened.locator("ol > li").first
    await store(opened, "demo1", 6.1, "Ridgecrest")
    await expect(first).to_contain_text("6.1 Ridgecrest")

    await store(opened, "demo1", 5.9, "Ridgecrest")
    await expect(first).to_contain_text("5.9 Ridgecrest")

    await store(opened, "demo1", 4.4, "Ridgecrest")
    await expect(first).to_contain_text("5.5 Java, Indonesia")
    await expect(opened.get_by_text("Ridgecrest")).to_have_count(0)


async def test_a_wrong_token_and_a_rejected_event_say_why_nothing_is_stored(opened: Page) -> None:
    alert = opened.get_by_role("alert")

    await store(opened, "demo2", 5, "Ridgecrest", token="wrong")  # noqa: S106 - it is none
    await expect(alert).to_have_text("Your token was not accepted: it cannot be read.")
    await store(opened, 65 * "x", 5, "Ridgecrest")
    await expect(alert).to_have_text("An event's id is text of at most 64 characters, without control characters.")
    await expect(opened.get_by_text("Ridgecrest")).to_have_count(0)


async def test_a_page_of_an_origin_that_is_not_allowed_says_so(built: Built, visit: Visit) -> None:
    await visit.page.goto(built.foreign_url)

    await expect(visit.page.get_by_role("alert")).to_have_text("Failed to fetch")
