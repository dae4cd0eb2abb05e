"""How often a test repeats what it does: few times for people, many times in CI.

The README's test command is quick: a property is tried with a fifth of the examples, a loop that only repeats goes
round a fifth as often. `.ci/run` runs that command too, and then the tests marked `hypothesis` (Hypothesis marks its
own) or `repeated` once more, thoroughly: `TEST_EFFORT=thorough pytest -m "hypothesis or repeated"`.
Where `TEST_EFFORT` is not set, the effort is thorough if `CI` is, and quick otherwise.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

EFFORT = os.environ.get("TEST_EFFORT") or ("thorough" if os.environ.get("CI") else "quick")
THOROUGH = EFFORT == "thorough"
QUICK_SHARE = 5  # a quick run has one of so many repetitions
EXAMPLES = 100  # Hypothesis's own default


def rounds(thorough: int, *, at_least: int = 3) -> int:
    """How many examples or rounds a test has, given their number where the effort is thorough."""
    return thorough if THOROUGH else min(thorough, max(at_least, thorough // QUICK_SHARE))


# No test depends on a clock.
settings.register_profile(
    EFFORT,
    settings.default,
    max_examples=rounds(EXAMPLES),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(EFFORT)  # before any module of tests makes settings of its own


def pytest_configure(config: pytest.Config) -> None:
    if EFFORT not in ("quick", "thorough"):
        raise pytest.UsageError(f"TEST_EFFORT is {EFFORT!r}: it may be quick or thorough")
    config.addinivalue_line("markers", "repeated: goes round as often as the effort says; see tests/effort.py")


def pytest_report_header() -> str:
    return f"effort: {EFFORT}"
