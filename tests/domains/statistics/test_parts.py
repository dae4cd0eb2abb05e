"""Moment, depths, times, places and rates, beside published values and those of SciPy."""

from decimal import Decimal
from fractions import Fraction
from math import nan, nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.core.errors import BadUserInput
from graph.domains.statistics.in_space import (
    MOST_CELLS,
    MOST_DEPTH_BINS,
    DepthBin,
    DepthCounts,
    Depths,
    GridCell,
    GridCounts,
    TooManyCells,
)
from graph.domains.statistics.inter_event_times import MOST_QUANTILES, inter_event_times
from graph.domains.statistics.moment import magnitude_of, moment_of, seismic_moment
from graph.domains.statistics.poisson import gamma_quantile, garwood, regularised_gamma
from graph.domains.statistics.rates import MOST_MAGNITUDES, EventRate, rates


def test_moments_are_the_published_ones() -> None:
    """Chile 1960 has 2.0e23 N m and M 9.5, Alaska 1964 8.2e22 N m and M 9.2: Kanamori (1977), JGR 82, 2981-2987."""
    assert magnitude_of(2.0e23) == pytest.approx(9.5, abs=0.05)
    assert magnitude_of(8.2e22) == pytest.approx(9.2, abs=0.05)
    assert moment_of(6.0) == pytest.approx(10**18.05)


@given(st.floats(-2, 10))
def test_a_magnitude_is_found_again_from_its_moment(magnitude: float) -> None:
    assert magnitude_of(moment_of(magnitude)) == pytest.approx(magnitude, abs=1e-9)


def test_a_moment_is_the_sum_of_all_and_says_how_many_are_of_bins() -> None:
    found = seismic_moment({6.0: 2, 4.0: 1}, {50: 3})

    assert found.newton_metres == pytest.approx(2 * moment_of(6.0) + moment_of(4.0) + 3 * moment_of(5.05))
    assert (found.events, found.binned) == (6, 3)
    assert found.magnitude == pytest.approx(magnitude_of(found.newton_metres))
    assert (seismic_moment({}, {}).newton_metres, seismic_moment({}, {}).magnitude) == (0, None)


def test_depths_are_counted_by_their_shallower_edge() -> None:
    counts = DepthCounts(10)
    counts.add([0.0, 9.99, 10.0, nan])
    counts.add([35.0, nan])

    assert counts.histogram(6) == Depths((DepthBin(0, 2), DepthBin(10, 1), DepthBin(20, 0), DepthBin(30, 1)), 2)
    assert DepthCounts(10).histogram(0) == Depths()


def test_impossible_bins_of_depth_and_cells_are_refused() -> None:
    for bin_km in (0, -1, nan, float("inf")):
        with pytest.raises(BadUserInput, match="`binKm` must be greater than 0"):
            DepthCounts(bin_km)
    for bin_km, depth in ((0.5, 700.0), (0.5, 500.0), (1e-300, 700.0)):
        with pytest.raises(BadUserInput, match=f"more than {MOST_DEPTH_BINS:,} bins"):
            DepthCounts(bin_km).add([depth])
    for degrees in (0, 0.001, 91, nan):
        with pytest.raises(BadUserInput, match="`degreesPerCell` must be from"):
            GridCounts(degrees)
    with pytest.raises(TooManyCells):
        GridCounts(0.01).add((0.0, number / 90, 1.0) for number in range(MOST_CELLS + 1))


degrees_north, degrees_east = (st.integers(-most * 1000, most * 1000).map(lambda at: at / 1000) for most in (90, 180))
magnitudes = st.sampled_from([1.0, 2.0, 3.0])
points = st.lists(st.tuples(degrees_north, degrees_east, magnitudes), min_size=1, max_size=40)


def edge(at: float, width: float, first: int) -> float:
    """The lower edge of the bin that a value is in, by fractions of the written numbers."""
    whole, step = Fraction(repr(at)) - first, Fraction(repr(width))
    return float(first + whole // step * step)


@given(points, st.sampled_from([0.05, 0.1, 0.7, 1.0, 5.0, 7.0, 90.0]))
def test_every_event_is_in_the_cell_that_holds_it(events: list[tuple[float, float, float]], degrees: float) -> None:
    counts = GridCounts(degrees)
    counts.add(events[::2])
    counts.add(events[1::2])

    northernmost = edge(nextafter(90, 0), degrees, -90)
    expected: dict[tuple[float, float], list[float]] = {}
    for lat, lon, magnitude in events:
        corner = min(edge(lat, degrees, -90), northernmost), edge(-180.0 if lon == 180 else lon, degrees, -180)
        expected.setdefault(corner, []).append(magnitude)
    assert [((cell.lat, cell.lon), cell.count, cell.greatest_magnitude) for cell in counts.grid().cells] == [
        (corner, len(inside), max(inside)) for corner, inside in sorted(expected.items())
    ]


def test_bins_and_cells_are_cut_in_decimal() -> None:
    """Each of these lies on an edge, and each label is the decimal that a person writes."""
    for width in (0.1, 0.05, 0.3):
        depths = DepthCounts(width)
        on_edges = [float(number * Decimal(repr(width))) for number in range(100)]
        depths.add([*on_edges, nextafter(on_edges[3], 0)])
        assert depths.histogram(101).bins == tuple(
            DepthBin(depth, 1 + (number == 2)) for number, depth in enumerate(on_edges)
        )
    counts = GridCounts(0.1)
    counts.add([(32.3, -123.7, 1.0), (-0.1, 0.3, 1.0), (nextafter(0.3, 0), -1e-20, 1.0)])
    assert [(cell.lat, cell.lon) for cell in counts.grid().cells] == [(-0.1, 0.3), (0.2, -0.1), (32.3, -123.7)]


def test_the_poles_and_the_dateline_have_one_cell_each() -> None:
    counts = GridCounts(30)
    counts.add([(90.0, 0.0, 1.0), (-90.0, 0.0, 1.0), (0.0, 180.0, 1.0), (0.0, -180.0, 2.0)])

    assert counts.grid().cells == (GridCell(-90, 0, 1, 1.0), GridCell(0, -180, 2, 2.0), GridCell(60, 0, 1, 1.0))


def test_times_between_events_have_the_known_quantiles() -> None:
    """Those of numpy for 1, 2, 4 and 8 seconds: a quantile between two times is interpolated."""
    found = inter_event_times([0, 1000, 3000, 7000, 15_000], (0.0, 0.05, 0.5, 0.95, 1.0))

    assert (found.number, found.mean_seconds) == (4, 3.75)
    assert [each.seconds for each in found.quantiles] == pytest.approx([1.0, 1.15, 3.0, 7.4, 8.0])
    assert found.coefficient_of_variation == pytest.approx(0.714920353587)


def test_one_event_has_no_time_between_and_impossible_quantiles_are_refused() -> None:
    assert inter_event_times([1], (0.5,)).reason == "Only 1 events are selected; a time between two needs 2."
    assert inter_event_times([1, 1], (0.5,)).coefficient_of_variation is None
    for parts in ((1.5,), (-0.1,), (nan,), (0.5,) * (MOST_QUANTILES + 1)):
        with pytest.raises(BadUserInput, match="`quantiles` takes"):
            inter_event_times([1, 2], parts)


# Poisson


def test_the_incomplete_gamma_function_and_its_quantiles_are_the_known_ones() -> None:
    for shape, part, expected in (
        (1, 0.5, 0.3934693402873665),
        (3, 2.0, 0.938031195583341),
        (100, 0.9, 0.15822098918643007),
        (3000, 1.01, 0.7095217782388564),
    ):
        assert regularised_gamma(shape, shape * part) == pytest.approx(expected, rel=1e-9)
    for great, probability, quantile in (
        (10**4, 0.00005, 9615.64415641737),
        (10**4, 0.975, 10196.941824999883),
        (10**6, 0.975, 1001960.9109654503),
        (10**8, 0.00005, 99961098.793283),
    ):
        assert gamma_quantile(great, probability) == pytest.approx(quantile, rel=1e-6)


def test_intervals_are_the_published_ones() -> None:
    """Those of Garwood's table (1936) for 95 %, and by quantiles of chi-square."""
    assert garwood(0, 0.95) == pytest.approx((0.0, 3.689), abs=5e-4)
    assert garwood(1, 0.95) == pytest.approx((0.0253, 5.572), abs=5e-4)
    assert garwood(10, 0.95) == pytest.approx((4.795, 18.390), abs=5e-4)
    assert garwood(5, 0.9999) == pytest.approx((0.3830233603470568, 20.473811900340785), rel=1e-9)
    assert garwood(57, 0.5) == pytest.approx((51.74254680406695, 62.93922004950092), rel=1e-9)
    assert garwood(3000, 0.999) == pytest.approx((2823.0397251839036, 3184.5416816388906), rel=1e-9)


def test_a_rate_is_of_all_events_from_its_magnitude_on() -> None:
    counts = {12: 5, 20: 3, 45: 2}
    found = rates(counts, 2.0, [1.2, 2.0, 5.0], 0.95)

    assert [(rate.events, rate.per_year) for rate in found] == [(10, 5.0), (5, 2.5), (0, 0.0)]
    assert found[0].low == pytest.approx(4.795 / 2, abs=5e-4)
    assert found[0].high == pytest.approx(18.390 / 2, abs=5e-4)
    assert [rate.magnitude for rate in rates(counts, 2.0, None, 0.95)] == [2.0, 3.0, 4.0]
    assert [rate.magnitude for rate in rates({-12: 5, 11: 1}, 2.0, None, 0.95)] == [-1.0, 0.0, 1.0]
    assert rates({}, 2.0, None, 0.95) == list[EventRate]()


def test_rates_of_impossible_magnitudes_are_refused() -> None:
    for magnitudes in ([2.05], [11.0], [1.0] * (MOST_MAGNITUDES + 1)):
        with pytest.raises(BadUserInput, match="`magnitudes`"):
            rates({20: 1}, 1.0, magnitudes, 0.95)
