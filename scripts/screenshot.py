"""Takes the screenshots for the README and docs/, from a service with the demo's week.

python scripts/screenshot.py http://127.0.0.1:8000 docs
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

SELECTED = "us6000kxp7"  # the latest strong earthquake of the week


def main(origin: str, folder: str) -> None:
    """Save each picture under its name."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        graphiql(browser, f"{origin}/graphql", Path(folder, "graphiql.png"))
        dashboard(browser, f"{origin}/?minMagnitude=2.5", Path(folder, "dashboard-light.png"), dark=False)
        dashboard(browser, f"{origin}/?minMagnitude=2.5&colour=depth", Path(folder, "dashboard-dark.png"), dark=True)
        browser.close()


def graphiql(browser: Browser, url: str, path: Path) -> None:
    """GraphiQL with the answer to its first example."""
    page = browser.new_page(viewport={"width": 1280, "height": 760})
    page.goto(url)
    page.locator(".graphiql-execute-button").click()
    page.locator(".result-window").get_by_text("eventId").first.wait_for()
    page.screenshot(path=path)


def dashboard(browser: Browser, url: str, path: Path, *, dark: bool) -> None:
    """The live dashboard from its top to its plots, with a selected event."""
    page = browser.new_page(viewport={"width": 1024, "height": 1240}, color_scheme="dark" if dark else "light")
    page.goto(url)
    page.locator("#connection[data-state=live]").wait_for()
    page.locator(f"tr[data-event-id={SELECTED}] button").click()
    page.locator("#magnitude-frequency .fit").first.wait_for()
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.mouse.move(0, 0)
    bottom = page.locator("#magnitude-frequency").evaluate("plot => plot.getBoundingClientRect().bottom")
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": 1024, "height": bottom + 16})


main(*sys.argv[1:])
