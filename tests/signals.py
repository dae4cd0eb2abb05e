"""Every child of the tests hears SIGINT and SIGTERM, whatever this process inherited.

A shell without job control ignores SIGINT in what it runs in the background. A child inherits what is
ignored, across exec too, so a `quakegraph` that a test starts would not hear Ctrl-C either. A handler is
not inherited: exec resets it to the default. So this process gets its handlers back before any test runs.
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
