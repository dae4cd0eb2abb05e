"""Runs Lighthouse on a web page in Chromium, and reads what it found.

`npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved` in this folder makes the lock.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scripts.npm_lock import installed

HERE = Path(__file__).parent
TIMEOUT_S = 300
ATTEMPTS = 5
TRY_AGAIN = (  # its own words, on a busy machine
    "Please run Lighthouse again",  # a trace has no beginning: one in seven
    "the page stopped responding",  # for a second, when the time to load it was over
)
WAIT_MS = 15_000  # a page that follows a subscription always loads something, so Lighthouse would wait for 45 s
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # containers run as root, where Chromium has none
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-dev-shm-usage",  # which a container may have little of
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
WEBGL_FLAG = "--enable-unsafe-swiftshader"  # drawn by the processor
NO_WEBGL_FLAG = "--disable-3d-apis"
DEVICES: Mapping[str, Sequence[str]] = {"desktop": ["--preset=desktop"], "telephone": []}
"""Lighthouse's own: a desktop, and by default a telephone of the middle class on a slow network."""

CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
WITHOUT_A_CLOCK = CATEGORIES[1:]
SHIFT = "cumulative-layout-shift"


class Failed(RuntimeError):
    """Lighthouse could not look at the page; the message is its own."""


@dataclass(frozen=True, slots=True)
class Report:
    """What Lighthouse found on one page."""

    body: dict[str, Any]

    @property
    def scores(self) -> dict[str, float]:
        """From 0 to 1, by the names of the categories that were asked for."""
        return {name: category["score"] for name, category in self.body["categories"].items()}

    def value(self, audit: str) -> float:
        """What an audit measured, in its unit: ms, bytes, or none."""
        return float(self.body["audits"][audit]["numericValue"])

    def faults(self, category: str) -> list[str]:
        """The audits that cost the category something, each with its title and the first things that it names."""
        audits = [
            self.body["audits"][each["id"]] for each in self.body["categories"][category]["auditRefs"] if each["weight"]
        ]
        return [_described(audit) for audit in audits if audit["score"] is not None and audit["score"] < 1]


def _described(audit: Mapping[str, Any]) -> str:
    things = audit.get("details", {}).get("items", [])[:3]
    return f"{audit['id']}: {audit['title']} {json.dumps(things)[:600]}"


def audited(
    url: str,
    device: str,
    *,
    categories: Sequence[str] = CATEGORIES,
    audits: Sequence[str] = (),
    webgl: bool = True,
    wait_ms: int = WAIT_MS,
) -> Report:
    """Look at a page as on a device.

    Args:
        url: of the page.
        device: one of `DEVICES`.
        categories: what to judge.
        audits: others to make.
        webgl: whether the browser can draw the map, on the processor.
        wait_ms: for how long the page is watched.

    Raises:
        Unavailable: npm is missing, or cannot install Lighthouse.
        Failed: Lighthouse gave no report.
    """
    options = [
        f"--only-categories={','.join(categories)}",
        *(f"--only-audits={audit}" for audit in audits),
        f"--max-wait-for-load={wait_ms}",
        *DEVICES[device],
    ]
    flags = (*FLAGS, WEBGL_FLAG if webgl else NO_WEBGL_FLAG)
    for _ in range(ATTEMPTS - 1):
        try:
            return _report(url, options, flags)
        except Failed as failed:
            if not _by_chance(str(failed)):
                raise
    return _report(url, options, flags)


def _report(url: str, options: Sequence[str], flags: Sequence[str]) -> Report:
    program = installed(HERE) / "lighthouse" / "cli" / "index.js"
    with TemporaryDirectory() as folder:
        output = Path(folder, "report.json")
        command = [
            "node",
            str(program),
            url,
            "--quiet",
            "--output=json",
            f"--output-path={output}",
            "--disable-full-page-screenshot",
            f"--chrome-flags={' '.join([*map(_quoted, flags), f'--user-data-dir={folder}/profile'])}",
            *options,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        if done.returncode or not output.exists():
            raise Failed(done.stderr.strip())
        body = json.loads(output.read_bytes())
    errors = [audit["errorMessage"] for audit in body["audits"].values() if audit["scoreDisplayMode"] == "error"]
    if failed := next(filter(_by_chance, errors), None):
        raise Failed(failed)  # others concern single audits, which Node 20 is too old for
    return Report(body)


def _by_chance(message: str) -> bool:
    return any(words in message for words in TRY_AGAIN)


def _quoted(flag: str) -> str:
    return f'"{flag}"' if " " in flag else flag
