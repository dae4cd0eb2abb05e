"""What Lighthouse says of the web pages, as far as no clock decides it. `benchmarks/lighthouse/` measures all of it."""

import pytest

from benchmarks.lighthouse.audits import WITHOUT_A_CLOCK, audited

pytestmark = pytest.mark.needs("chromium", "npm", "node", "the web pages' packages")

LEAST_SCORE = 0.95
WAIT_MS = 5000  # on a busy machine, less of the page is looked at, but nothing fails


@pytest.mark.parametrize("path", ["/", "/events/us6000kxp7"], ids=["dashboard", "event"])
def test_each_page_is_accessible_sound_and_found(shared: str, path: str) -> None:
    """On a telephone, for whose fingers there are more rules."""
    report = audited(f"{shared}{path}", "telephone", categories=WITHOUT_A_CLOCK, webgl=False, wait_ms=WAIT_MS)

    faults = [fault for category in WITHOUT_A_CLOCK for fault in report.faults(category)]
    assert {name: score for name, score in report.scores.items() if score < LEAST_SCORE} == {}, faults
    assert report.scores.keys() == set(WITHOUT_A_CLOCK)
