"""Takes the screenshots for the README and docs/, from a service with the demo's week.

python scripts/screenshot.py http://127.0.0.1:8000 docs
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

SELECTED = "us6000kxp7"  # the latest strong earthquake of the week
ARGUMENTS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")  # WebGL without a graphics card
DESKTOP = (1280, 1120)
TELEPHONE = (390, 844)


def main(origin: str, folder: str) -> None:
    """Save each picture under its name."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    week = f"{origin}/?minMagnitude=2.5"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        graphiql(browser, f"{origin}/graphql", Path(folder, "graphiql.png"))
        dashboard(browser, week, Path(folder, "dashboard-light.png"), DESKTOP)
        dashboard(browser, f"{week}&colour=depth", Path(folder, "dashboard-dark.png"), DESKTOP, dark=True)
        dashboard(browser, week, Path(folder, "dashboard-phone.png"), TELEPHONE, dark=True)
        browser.close()


def graphiql(browser: Browser, url: str, path: Path) -> None:
    """GraphiQL with the answer to its first example."""
    page = browser.new_page(viewport={"width": 1280, "height": 760})
    page.goto(url)
    page.locator(".graphiql-execute-button").click()
    page.locator(".result-window").get_by_text("eventId").first.wait_for()
    page.screenshot(path=path)


def dashboard(browser: Browser, url: str, path: Path, size: tuple[int, int], *, dark: bool = False) -> None:
    """The live dashboard from its top; on a desktop with the card of an event."""
    width, height = size
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", device_scale_factor=1
    )
    page.goto(url)
    page.locator("#connection[data-state=live]").wait_for()
    page.locator("#map[data-state=drawn]").wait_for()
    if size == DESKTOP:
        page.locator(f"#list li[data-event-id={SELECTED}] a").click()
    page.locator("#magnitude-frequency .u-over").wait_for()
    page.wait_for_timeout(3000)  # until the map has its land and rests
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)
    page.screenshot(path=path)


main(*sys.argv[1:])
