"""The number of repetitions in tests: few in a quick run, many in a thorough one.

The README's test command and `.ci/run` are quick: properties get an eighth of the examples, always the same ones,
and loops an eighth of the rounds. `scripts/check thorough` repeats those tests, marked `hypothesis` or `repeated`, as
often as they are meant to be, and with new examples each time. It repeats those marked `judged`, too: other projects'
tools judge the graph in them, in a quick run by the pinned versions, in a thorough one by today's.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

EFFORT = os.environ.get("TEST_EFFORT") or "quick"
THOROUGH = EFFORT == "thorough"
QUICK_SHARE = 8  # a quick run has an eighth of the repetitions
EXAMPLES = 100  # Hypothesis's own default


def rounds(thorough: int, *, at_least: int = 3) -> int:
    """The number of examples or rounds of a test, from their number in a thorough run."""
    return thorough if THOROUGH else min(thorough, max(at_least, thorough // QUICK_SHARE))


settings.register_profile(
    EFFORT,
    settings.default,
    max_examples=rounds(EXAMPLES),
    derandomize=not THOROUGH,  # a quick run does not depend on chance
    deadline=None,  # no test depends on a clock
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(EFFORT)  # before any module of tests makes settings of its own


def pytest_configure(config: pytest.Config) -> None:
    if EFFORT not in ("quick", "thorough"):
        raise pytest.UsageError(f"TEST_EFFORT is {EFFORT!r}: it may be quick or thorough")
    config.addinivalue_line("markers", "repeated: the effort decides how often it repeats; see tests/effort.py")
    config.addinivalue_line("markers", "judged: the effort decides which versions of tools judge; see tests/effort.py")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    seed = getattr(config.option, "randomly_seed", None)  # of pytest-randomly, unless it was switched off
    order = "as collected" if seed is None else f"--randomly-seed={seed}"
    terminalreporter.write_line(f"effort: {EFFORT}, order: {order}")
