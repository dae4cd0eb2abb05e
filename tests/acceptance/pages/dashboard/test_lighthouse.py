"""What Lighthouse says of the web pages, as far as no clock decides it. `benchmarks/lighthouse/` measures all of it."""

import pytest

from benchmarks.lighthouse.audits import DEVICES, SHIFT, WITHOUT_A_CLOCK, audited

pytestmark = pytest.mark.needs("chromium", "npm", "node", "the web pages' packages")

LEAST_SCORE = 0.95
MOST_SHIFT = 0.1  # beyond, Core Web Vitals no longer call it good
WAIT_MS = 5000  # on a busy machine, less of the page is looked at, but nothing fails


@pytest.mark.parametrize("path", ["/", "/events/us6000kxp7"])
@pytest.mark.parametrize("device", DEVICES)
def test_each_page_is_accessible_sound_and_found(whole_week: str, path: str, device: str) -> None:
    report = audited(f"{whole_week}{path}", device, categories=WITHOUT_A_CLOCK, audits=[SHIFT], wait_ms=WAIT_MS)

    faults = [fault for category in WITHOUT_A_CLOCK for fault in report.faults(category)]
    assert {name: score for name, score in report.scores.items() if score < LEAST_SCORE} == {}, faults
    assert report.scores.keys() == set(WITHOUT_A_CLOCK)
    assert report.value(SHIFT) < MOST_SHIFT
