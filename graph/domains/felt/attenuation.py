"""The intensity that an earthquake is expected to have at a distance, and how plausible it is as what somebody felt.

The equation is that of Atkinson, Worden and Wald (2014) for the crust of active regions, as DYFI uses it to find
outliers. It is a mean: single places differ from it by about a degree.

Source: https://doi.org/10.1785/0120140178
"""

from functools import lru_cache
from math import hypot, log10

DEPTH_TERM_KM = 14.0
FAR_KM = 50.0
FARTHEST_KM = 3000.0  # DYFI leaves out reports from further away; no magnitude reaches half as far
LEAST_MAG = 1.8  # of smaller earthquakes, the expected intensity is 1 even at the epicentre
HALVINGS = 20  # of 3,000 km: exact to some metres
SURELY_FELT, NOT_FELT = 3.0, 1.0
LATEST_S = 1800  # after an earthquake, somebody may report what they felt
EARLIEST_S = -60  # before it, since clocks differ


def hypocentral_km(km: float, depth: float | None) -> float:
    """The distance from the hypocentre, of a distance from the epicentre. An unknown depth is taken for none."""
    return hypot(km, depth or 0.0)


def expected_intensity(mag: float, km: float) -> float:
    """The mean intensity at a distance from the hypocentre, at least 1."""
    r = hypot(km, DEPTH_TERM_KM)
    far = max(0.0, log10(r / FAR_KM))
    intensity = 0.309 + 1.864 * mag - 1.672 * log10(r) - 0.00219 * r + 1.77 * far - 0.383 * mag * log10(r)
    return max(NOT_FELT, intensity)


@lru_cache(maxsize=4096)
def felt_radius_km(mag: float, depth: float | None = None) -> float:
    """The distance from the epicentre where the expected intensity has fallen to 1; 0 if it is nowhere greater."""
    if expected_intensity(mag, hypocentral_km(0, depth)) <= NOT_FELT:
        return 0.0
    near, far = 0.0, FARTHEST_KM
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        near, far = (
            (near, middle) if expected_intensity(mag, hypocentral_km(middle, depth)) <= NOT_FELT else (middle, far)
        )
    return far


def plausibility(mag: float, km: float, seconds: float, depth: float | None = None) -> float:
    """How plausible it is that somebody reports this earthquake, 0 … 1.

    Args:
        km: from the epicentre to whoever reports.
        seconds: from the origin time to the report.
    """
    if not EARLIEST_S <= seconds <= LATEST_S:
        return 0.0
    by_intensity = min(1.0, (expected_intensity(mag, hypocentral_km(km, depth)) - NOT_FELT) / (SURELY_FELT - NOT_FELT))
    by_time = 1 - max(0.0, seconds) / LATEST_S
    return round(by_intensity * by_time, 3)
