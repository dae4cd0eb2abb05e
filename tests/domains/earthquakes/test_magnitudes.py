"""Bins of 0.1 magnitude are cut in decimal arithmetic."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.earthquakes.magnitudes import MagnitudeRange, bin_of

# 4.6 * 10 is 46.0, but 4.6 // 0.1 is 45.0, and 0.3 / 0.1 is 2.999…
ODD = [4.6, 0.3, 4.55, 4.599999999999999, 4.600000000000001, -0.1, -0.05, -1.12, -0.0, 1e-300, 7, -2, 10]


@given(st.floats(-2, 10))
def test_a_bin_reaches_from_its_edge_to_the_next_one(mag: float) -> None:
    for each in (mag, *ODD, *(tenths / 10 for tenths in range(-20, 101))):
        tenths, on_edge = bin_of(each)
        written = Decimal(repr(each))
        assert Decimal(tenths) / 10 <= written < Decimal(tenths + 1) / 10
        assert on_edge == (written == Decimal(tenths) / 10)


def test_a_range_knows_the_bins_that_may_hold_its_magnitudes() -> None:
    for bounds, on_tenths, bins in (
        (MagnitudeRange(), True, range(-20, 101)),
        (MagnitudeRange(4.5), True, range(45, 101)),
        (MagnitudeRange(4.55), False, range(45, 101)),
        (MagnitudeRange(None, 4.5), True, range(-20, 46)),
        (MagnitudeRange(4.6, 4.6), True, range(46, 47)),
        (MagnitudeRange(4.61, 4.69), False, range(46, 47)),
        (MagnitudeRange(-5, 12), True, range(-20, 101)),
        (MagnitudeRange(10.1, 12), True, range(101, 101)),
    ):
        assert (bounds.on_tenths, bounds.bins) == (on_tenths, bins)
        assert bounds.everything == (bounds == MagnitudeRange())
