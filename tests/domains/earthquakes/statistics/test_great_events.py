"""Whether the number of great events fits a relation: of samples where it does and does not."""

from collections import Counter

import pytest

from graph.domains.earthquakes.statistics.great_events import great_events
from graph.domains.earthquakes.statistics.gutenberg_richter import Completeness, gutenberg_richter
from tests.domains.earthquakes.statistics.test_goodness_of_fit import geometric

SAMPLES = 200


def test_the_least_likely_number_has_the_known_chance() -> None:
    found = great_events(geometric(1000, 0.2303, 10, 1) + Counter({60: 3}), 1.0, 1.0)

    assert (found.magnitude, found.events) == (6.0, 3)
    assert found.expected == pytest.approx(0.01003)
    assert found.p_value == pytest.approx(1.0348492222094091e-05, rel=1e-9), "SciPy's"


def test_missing_great_events_are_seen_too() -> None:
    """Of a catalogue that was cut, or whose magnitudes saturate."""
    counts = geometric(40_000, 0.2303, 10, 1)
    cut = Counter({tenths: count for tenths, count in counts.items() if tenths < 40})

    found = great_events(cut, 1.0, 1.0)

    assert (found.magnitude, found.events) == (4.0, 0)
    assert found.expected == pytest.approx(40, rel=0.01)
    assert found.p_value < 1e-12


@pytest.mark.parametrize("events", [60, 1000, 40_000])
def test_exponential_samples_are_objected_to_in_one_case_of_twenty_at_most(events: int) -> None:
    objected = 0
    for seed in range(SAMPLES):
        counts = geometric(events, 0.23, 10, seed)
        b = gutenberg_richter(counts, Completeness(1.0)).b
        assert b is not None
        found = great_events(counts, 1.0, b)
        objected += found.p_value < 0.05

    assert objected <= SAMPLES / 20
