"""Measures how smoothly the dashboard's map moves in Chromium, which draws WebGL by the processor here.

    python -m benchmarks.map_frames --events 50000

starts `quakegraph serve` on a new store and opens the dashboard on all of its events, of which the map draws the
largest over the numbers of the others by area. Then the map pans along the equator, zooms in, pans over California,
and turns as a globe. A frame counts when MapLibre has drawn it; the gaps are those between frames. Each movement is
repeated, in turn with the others, since machines are noisy.
"""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

import click
from playwright.async_api import Page, ViewportSize, async_playwright

from benchmarks.cache import CHECKOUT
from benchmarks.catalogue import Catalogue
from benchmarks.contenders import our_service
from benchmarks.markdown import table
from benchmarks.servers import running
from tests.acceptance.browser import ARGUMENTS
from tests.needs import CHROMIUM_NAMES

DAYS = 365
WINDOW: ViewportSize = {"width": 1400, "height": 900}
TIMEOUT_MS = 120_000
MOVE_MS = 3000  # that a movement takes
WAIT_S = 1.0  # for the view's answer, after a movement
MOVEMENTS = {
    "pan over the world": ("flat", {"center": [0, 12], "zoom": 1}, {"center": [160, 12], "zoom": 1}),
    "zoom in": ("flat", {"center": [-118, 36], "zoom": 1}, {"center": [-118, 36], "zoom": 6}),
    "pan over California": ("flat", {"center": [-121, 38], "zoom": 6}, {"center": [-116, 34], "zoom": 6}),
    "turn the globe": ("globe", {"center": [0, 12], "zoom": 1}, {"center": [160, 12], "zoom": 1}),
}
MOVE = """async ([projection, from, to, duration]) => {
  const { map } = document.getElementById("map");
  map.setProjection({ type: projection === "globe" ? "globe" : "mercator" });
  map.jumpTo(from);
  await new Promise(resolve => map.once("idle", resolve));
  const drawn = [];
  const note = () => drawn.push(performance.now());
  map.on("render", note);
  const end = new Promise(resolve => map.once("moveend", resolve));
  map.easeTo({ ...to, duration, easing: part => part, essential: true });
  await end;
  map.off("render", note);
  return drawn;
}"""


async def measure(url: str, rounds: int) -> dict[str, list[list[float]]]:
    """The times of the frames of each movement, once a round; ms."""
    executable = next(filter(None, map(shutil.which, CHROMIUM_NAMES)))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        page = await browser.new_page(viewport=WINDOW)
        page.set_default_timeout(TIMEOUT_MS)
        await page.goto(f"{url}/?period=all")
        await page.wait_for_selector("#map[data-state=drawn]")
        await page.wait_for_function("document.getElementById('map').dataset.drawn > 0")
        found: dict[str, list[list[float]]] = {name: [] for name in MOVEMENTS}
        for _ in range(rounds):
            for name in MOVEMENTS:
                found[name].append(await _move(page, name))
        await browser.close()
    return found


async def _move(page: Page, name: str) -> list[float]:
    frames: list[float] = await page.evaluate(MOVE, [*MOVEMENTS[name], MOVE_MS])
    await asyncio.sleep(WAIT_S)
    return frames


def row(name: str, rounds: Sequence[Sequence[float]]) -> list[str]:
    """The medians of the rounds of a movement."""
    gaps = [[later - earlier for earlier, later in pairwise(frames)] for frames in rounds]
    rate = median(1000 * len(of_one) / sum(of_one) for of_one in gaps)
    long = median(quantiles(of_one, n=20)[-1] for of_one in gaps)
    return [name, f"**{rate:.1f}**", f"{median(map(median, gaps)):.0f} ms", f"{long:.0f} ms"]


@click.command()
@click.option("--events", type=click.IntRange(min=1), default=50_000, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True)
def main(events: int, rounds: int) -> None:
    """Measure, and print a table."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        catalogue = folder / "catalogue.ndjson"
        with catalogue.open("wb") as file:
            file.writelines(Catalogue(events, days=DAYS).lines())
        store = folder / "store.db"
        ours = our_service(store)
        ingest = [sys.executable, "-m", "graph", "ingest", "--store", f"sqlite:///{store}", str(catalogue)]
        subprocess.run(ingest, cwd=CHECKOUT, env=ours.environment, stdout=subprocess.DEVNULL, check=True)
        with running(ours, None, folder) as server:
            found = asyncio.run(measure(f"http://127.0.0.1:{server.port}", rounds))
    head = [f"{events:,} events", "frames/s", "gap between frames", "longest but one in 20"]
    click.echo(table(head, [row(name, of_one) for name, of_one in found.items()]))


if __name__ == "__main__":
    main()
