"""Makes sure that every child of the tests receives SIGINT and SIGTERM, whatever this process inherited.

A shell without job control starts background processes with SIGINT ignored. Children inherit this, even
across exec, so a `quakegraph` that a test starts would ignore Ctrl-C too. Handlers are not inherited: exec
resets them to the default. So this process sets its handlers again before any test runs.
"""

import signal
from typing import Any

DEFAULTS: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}  # as Python starts with


def pytest_configure() -> None:
    for number, default in DEFAULTS.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, default)
