"""Draws the picture that link previews show of an event's page: `social_card.svg` as a PNG of 1200 × 630 pixels.

python scripts/social_card.py
"""

import shutil
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

COLOURS = 64  # enough for its few ones and the smooth edges between them, at a third of the bytes

HERE = Path(__file__).parent
DRAWN = HERE.parent / "graph/pages/dashboard/page/event/social_card.png"


def main() -> None:
    """Draw it in Chromium, with the fonts that this machine has."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1200, "height": 630})
        page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{_svg()}")
        picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    picture.quantize(COLOURS).save(DRAWN, optimize=True)


def _svg() -> str:
    return (HERE / "social_card.svg").read_text()


main()
