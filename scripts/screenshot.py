"""Takes the picture of GraphiQL: `python scripts/screenshot.py http://127.0.0.1:8000/graphql docs/graphiql.png`."""

import shutil
import sys

from playwright.sync_api import sync_playwright


def main(url: str, path: str) -> None:
    """Open GraphiQL, run its first example, and save what is seen."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 760})
        page.goto(url)
        page.locator(".graphiql-execute-button").click()
        page.locator(".result-window").get_by_text("eventId").first.wait_for()
        page.screenshot(path=path)
        browser.close()


main(*sys.argv[1:])
