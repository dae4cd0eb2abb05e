"""Chromium, as the machine has it, with everything but the loopback interface out of its reach."""

import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize, async_playwright, expect

from tests.children import Child
from tests.needs import CHROMIUM_NAMES
from tests.processes import TIMEOUT_S

ARGUMENTS = (
    "--no-sandbox",  # containers run as root, where Chromium has none
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",  # which a container may have little of
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--hide-scrollbars",
    "--process-per-site",  # so the pages of `visit` share a renderer
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
FORGET = """
if (origin !== "null" && !sessionStorage.getItem("first visit")) {
  localStorage.clear();
  sessionStorage.setItem("first visit", "over");
}
"""
"""A page empties the storage of an origin at its first visit. A page that closes may write there to its last moment."""
WITHOUT_WEBGL = """
HTMLCanvasElement.prototype.getContext = (getContext => function (kind, ...others) {
  return kind.startsWith("webgl") ? null : getContext.call(this, kind, ...others);
})(HTMLCanvasElement.prototype.getContext);
"""
"""The map is a picture then, which Chromium draws in a tenth of the time that it needs without a graphics card."""
OF_THE_DRIVER = re.compile("GL Driver Message|performance warning: READ-usage buffer")  # in place of a graphics card's
EXCUSED = (
    *("Failed to load resource", "Canvas2D: Multiple readback"),  # as tests refuse requests, and look at pixels
    *("Applying inline style violates", "Couldn't load preload assets"),  # of axe, which the policy of pages hinders
)
VIEWPORT: ViewportSize = {"width": 1400, "height": 900}

expect.set_options(timeout=1000 * TIMEOUT_S)


@dataclass(frozen=True, slots=True)
class Visit:
    """A page, and what happened on it since it was opened."""

    page: Page
    requested: list[str]  # URLs, also of what was refused or never reached
    complaints: list[str]  # the console's warnings and errors, uncaught exceptions


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a browser that runs. To start one for each test takes longer than most of them."""
    executable = next(filter(None, map(shutil.which, CHROMIUM_NAMES)))
    profile = tmp_path_factory.mktemp("chromium")
    options = ("--headless", "--remote-debugging-port=0", f"--user-data-dir={profile}")
    with Child([executable, *options, *ARGUMENTS], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        yield _address(profile / "DevToolsActivePort", process)


def _address(file: Path, process: Child[str]) -> str:
    """Where the browser listens, which it writes into a file."""
    until = monotonic() + TIMEOUT_S
    while monotonic() < until and process.poll() is None:
        if file.exists() and len(lines := file.read_text().split()) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        sleep(0.02)
    raise AssertionError(f"Chromium does not listen; its status is {process.poll()}")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """The browser, by way of a driver that takes half a second of a processor to start."""
    async with async_playwright() as playwright:
        yield await playwright.chromium.connect_over_cdp(chromium, timeout=1000 * TIMEOUT_S)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """A context with a page that stays open, so Chromium keeps the renderer of this machine's pages and its caches.

    To start a renderer for each page, and to compile its scripts anew, takes longer than to draw it.
    """
    context = await browser.new_context(viewport=VIEWPORT)
    keeper = await context.new_page()
    await keeper.route("**/*", lambda route: route.fulfill(content_type="text/html", body="<!doctype html>"))
    await keeper.goto("http://127.0.0.1/")
    yield context
    await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visit(shared_context: BrowserContext) -> AsyncIterator[Visit]:
    """An empty page without WebGL, with nothing stored. What Chromium has cached of an address may be there."""
    async with _visited(shared_context, FORGET, WITHOUT_WEBGL) as visit:
        yield visit


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def module_visit(shared_context: BrowserContext) -> AsyncIterator[Visit]:
    """The same for all tests of a module, each of which puts something of its own on the page that one has opened."""
    async with _visited(shared_context, FORGET, WITHOUT_WEBGL) as visit:
        yield visit


@pytest_asyncio.fixture(loop_scope="session")
async def webgl_visit(shared_context: BrowserContext) -> AsyncIterator[Visit]:
    """The same with WebGL, for a test that looks at the map."""
    async with _visited(shared_context, FORGET) as visit:
        yield visit


@pytest_asyncio.fixture(loop_scope="session")
async def own_page(browser: Browser) -> AsyncIterator[Page]:
    """A page in a context of its own, for a test that changes what all pages of a context share, as their clock."""
    context = await browser.new_context(viewport=VIEWPORT)
    async with _visited(context, WITHOUT_WEBGL) as visit:
        for page in without_complaints(visit):
            yield page
    await context.close()


@pytest.fixture
def page(visit: Visit) -> Iterator[Page]:
    """The page of `visit`, which must not complain, as all that are given by themselves."""
    yield from without_complaints(visit)


@pytest.fixture
def webgl_page(webgl_visit: Visit) -> Iterator[Page]:
    """The page of `webgl_visit`."""
    yield from without_complaints(webgl_visit)


def without_complaints(visit: Visit) -> Iterator[Page]:
    """The page, which complains of nothing but what tests do, from here on."""
    visit.complaints.clear()
    yield visit.page
    assert [text for text in visit.complaints if not text.startswith(EXCUSED)] == []


@asynccontextmanager
async def _visited(context: BrowserContext, *scripts: str) -> AsyncIterator[Visit]:
    page = await context.new_page()
    page.set_default_timeout(1000 * TIMEOUT_S)
    for script in scripts:
        await page.add_init_script(script)
    yield _watched(page)
    await page.close()
    await context.clear_cookies()


@asynccontextmanager
async def time_zone(page: Page, name: str) -> AsyncIterator[None]:
    """Let the page believe to be in a time zone, as a context of its own would."""
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("Emulation.setTimezoneOverride", {"timezoneId": name})
    yield
    await devtools.send("Emulation.setTimezoneOverride", {"timezoneId": ""})
    await devtools.detach()


async def tap(page: Page, x: float, y: float) -> None:
    """Tap with a finger."""
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    await devtools.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    await devtools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    await devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    await devtools.detach()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run what visits pages in the event loop of the browser's driver, which lives as long as the session."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


def _watched(page: Page) -> Visit:
    visit = Visit(page, requested=[], complaints=[])

    def note_console(message: ConsoleMessage) -> None:
        if message.type in {"warning", "error"} and not OF_THE_DRIVER.search(message.text):
            visit.complaints.append(message.text)

    page.on("request", lambda request: visit.requested.append(request.url))
    page.on("console", note_console)
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    return visit
