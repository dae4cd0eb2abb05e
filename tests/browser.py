"""Chromium, as the machine has it, with everything but the loopback interface out of its reach."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from playwright.async_api import ConsoleMessage, Page, async_playwright, expect

from tests.needs import CHROMIUM_NAMES
from tests.processes import PATIENCE_S

ARGUMENTS = (
    "--no-sandbox",  # containers run as root, where Chromium has none
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


expect.set_options(timeout=1000 * PATIENCE_S)


@dataclass(frozen=True, slots=True)
class Visit:
    """A page, and what happened on it since it was opened."""

    page: Page
    requested: list[str]  # URLs, also of what was refused or never reached
    complaints: list[str]  # the console's warnings and errors, uncaught exceptions


@pytest.fixture
async def visit() -> AsyncIterator[Visit]:
    """An empty page in a browser with nothing stored."""
    executable = next(filter(None, map(shutil.which, CHROMIUM_NAMES)))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable, args=ARGUMENTS, timeout=1000 * PATIENCE_S
        )
        page = await browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(1000 * PATIENCE_S)
        yield _watched(page)
        await browser.close()


def _watched(page: Page) -> Visit:
    visit = Visit(page, requested=[], complaints=[])

    def note_console(message: ConsoleMessage) -> None:
        if message.type in {"warning", "error"}:
            visit.complaints.append(message.text)

    page.on("request", lambda request: visit.requested.append(request.url))
    page.on("console", note_console)
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    return visit
