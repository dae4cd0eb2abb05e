"""Runs the audits of the npm package `graphql-http`, which check that a server follows GraphQL over HTTP.

    python -m scripts.graphql_http_audits http://127.0.0.1:8000/graphql

Needs `npm` once and `node` at every run.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from scripts.npm_package import NpmPackage

PACKAGES = (
    NpmPackage(
        "graphql-http",
        "1.23.1",
        sha512="h6AcykL7+xp22QvOnK0fu1eHk9AZG1ngF71rk0ZGuGupnjm1yqXRFrZ/eMv4Q1FTCWILJ5o6hVAxzt3S8/wPHQ==",
    ),
    NpmPackage(
        "graphql",
        "16.11.0",
        sha512="mS1lbMsxgQj6hge1XZ6p7GPhbrtFwUFYi3wRzXAC/FmYnyXMTvvI3td3rjmQ2u8ewXueaSvRPWaEcgVVOT9Jnw==",
    ),
)
RUNNER = Path(__file__).with_suffix(".cjs")
TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Audit:
    """One audit and its result."""

    id: str
    name: str  # what a server SHOULD, MAY or MUST do
    status: str  # ok, notice, warn or error
    reason: str | None  # unless the status is ok


def audits(url: str) -> list[Audit]:
    """Run every audit on the server at a URL."""
    with tempfile.TemporaryDirectory() as modules:
        for package in PACKAGES:
            Path(modules, package.name).symlink_to(package.fetched())
        done = subprocess.run(
            ["node", "--preserve-symlinks", RUNNER, url],
            env={**os.environ, "NODE_PATH": modules},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=True,
        )
    return [Audit(**{"reason": None, **found}) for found in json.loads(done.stdout)]


def main() -> None:
    """Print the audits that failed. The exit status is 1 if there is one."""
    found = audits(sys.argv[1])
    failed = [audit for audit in found if audit.status != "ok"]
    for audit in failed:
        print(f"{audit.status} {audit.id} {audit.name}: {audit.reason}")
    print(f"{len(found) - len(failed)} of {len(found)} audits passed.")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
