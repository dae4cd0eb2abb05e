"""Runs Lighthouse on the dashboard and on an event's page, with the demo's week.

    python -m benchmarks.lighthouse [--rounds 3] [--without-webgl] [--faults]

prints medians: the categories, from 0 to 100, and the main metrics. Lighthouse measures one load of the page, and
computes from it how long it takes on a telephone; other work on the machine adds to all times. A processor draws the
map in place of a graphics card, which adds to the blocking time; `--without-webgl` leaves the map a picture.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import click
import httpx

from benchmarks.contenders import Contender, clean_environment
from benchmarks.lighthouse.audits import CATEGORIES, DEVICES, SHIFT, Report, audited
from benchmarks.markdown import table
from benchmarks.servers import POLL_S, Server, running

LARGEST = "{ events(first: 1, orderBy: MAGNITUDE_DESC) { nodes { eventId } } }"
METRICS = {
    "first paint, s": ("first-contentful-paint", 1000, "{:.1f}"),
    "largest, s": ("largest-contentful-paint", 1000, "{:.1f}"),
    "blocked, ms": ("total-blocking-time", 1, "{:.0f}"),
    "speed index, s": ("speed-index", 1000, "{:.1f}"),
    "shift": (SHIFT, 1, "{:.3f}"),
    "kB": ("total-byte-weight", 1000, "{:.0f}"),
}
"""Columns → the audit, its units in one of the column's, the format."""


@click.command()
@click.option("--rounds", default=3, show_default=True, help="Loads of each page on each device.")
@click.option("--without-webgl", is_flag=True, help="Leave the map a picture.")
@click.option("--faults", is_flag=True, help="Print also the audits that cost something.")
def main(rounds: int, without_webgl: bool, faults: bool) -> None:
    """Look at each page on each device, and print a table."""
    with TemporaryDirectory() as folder, running(_demo(Path(folder)), None, Path(folder)) as server:
        pages = _pages(server)
        found = {
            (page, device): [audited(url, device, webgl=not without_webgl) for _ in range(rounds)]
            for page, url in pages.items()
            for device in DEVICES
        }
    rows = [[f"{page}, {device}", *_cells(reports)] for (page, device), reports in found.items()]
    click.echo(table(["page", *CATEGORIES, *METRICS], rows))
    if faults:
        for (page, device), reports in found.items():
            for category in CATEGORIES:
                for fault in reports[-1].faults(category):
                    click.echo(f"\n{page}, {device}, {category}: {fault}")


def _demo(folder: Path) -> Contender:
    """The service with the demo's week."""
    serve = [sys.executable, "-m", "graph", "serve", "--demo", "--store", f"sqlite:///{folder}/demo.db"]
    return Contender("demo", lambda port: [*serve, "--port", str(port)], clean_environment())


def _pages(server: Server) -> dict[str, str]:
    """The addresses of the pages, once the week is loaded: its events are there together."""
    while not (nodes := httpx.post(server.url, json={"query": LARGEST}).json()["data"]["events"]["nodes"]):
        time.sleep(POLL_S)
    root = server.url.removesuffix("graphql")
    return {"dashboard": root, "event": f"{root}events/{nodes[0]['eventId']}"}


def _cells(reports: Sequence[Report]) -> list[str]:
    scores = [f"{100 * median(report.scores[category] for report in reports):.0f}" for category in CATEGORIES]
    values = [
        form.format(median(report.value(audit) for report in reports) / unit) for audit, unit, form in METRICS.values()
    ]
    return [*scores, *values]


if __name__ == "__main__":
    main()
