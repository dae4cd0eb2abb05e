"""The intensity that is expected at a distance, and the plausibility of an earthquake."""

import pytest

from graph.domains.felt.attenuation import LEAST_MAG, expected_intensity, felt_radius_km, hypocentral_km, plausibility


@pytest.mark.parametrize(
    ("mag", "km", "intensity"),
    [
        # 0.309 + 9.32 - 1.672 · 1.14613 - 0.00219 · 14 - 1.915 · 1.14613
        (5.0, 0, 5.487),
        # R = 100.975: 0.309 + 9.32 - 1.672 · 2.00421 - 0.00219 · 100.975 + 1.77 · 0.30524 - 1.915 · 2.00421
        (5.0, 100, 2.759),
        # R = 300.326: 0.309 + 9.32 - 1.672 · 2.47759 - 0.00219 · 300.326 + 1.77 · 0.77862 - 1.915 · 2.47759
        (5.0, 300, 1.462),
        # R = 51.923: 0.309 + 13.2344 - 1.672 · 1.71536 - 0.00219 · 51.923 + 1.77 · 0.01639 - 2.7193 · 1.71536
        (7.1, 50, 5.926),
        # R = 500.196: 0.309 + 13.2344 - 1.672 · 2.69914 - 0.00219 · 500.196 + 1.77 · 1.00017 - 2.7193 · 2.69914
        (7.1, 500, 2.366),
        (2.0, 50, 1.0),  # -0.23, and nothing is less than 1
    ],
)
def test_the_expected_intensity_is_the_published_one(mag: float, km: float, intensity: float) -> None:
    assert expected_intensity(mag, km) == pytest.approx(intensity, abs=0.0006)


def test_the_distance_is_that_from_the_hypocentre() -> None:
    """The equation's R is sqrt(D² + 14²), where D is the hypocentral distance."""
    deep = hypocentral_km(0, 100.0)
    assert expected_intensity(5.0, deep) == pytest.approx(2.759, abs=0.0006)
    assert hypocentral_km(30, 40.0) == 50
    assert hypocentral_km(30, None) == 30
    assert plausibility(5.0, 0, 0, 300.0) == plausibility(5.0, 300, 0) == 0.231
    assert felt_radius_km(5.0, 300.0) == pytest.approx((felt_radius_km(5.0) ** 2 - 300**2) ** 0.5, abs=0.1)
    assert felt_radius_km(5.0, 600.0) == 0


def test_an_earthquake_is_felt_up_to_where_the_expected_intensity_is_one() -> None:
    for mag in (1.9, 3.0, 5.0, 7.5, 10.0):
        radius = felt_radius_km(mag)
        assert 0 < radius < 1500
        assert expected_intensity(mag, radius) == 1
        assert expected_intensity(mag, radius - 0.01) > 1


def test_an_earthquake_that_is_too_small_is_felt_nowhere() -> None:
    assert felt_radius_km(LEAST_MAG) == felt_radius_km(-2.0) == 0
    assert felt_radius_km(LEAST_MAG + 0.1) > 0


def test_the_plausibility_falls_with_the_expected_intensity_and_with_time() -> None:
    by_time = {-61: 0.0, -60: 1.0, 0: 1.0, 900: 0.5, 1800: 0.0, 1801: 0.0}  # the reporter's clock may be behind
    assert {seconds: plausibility(6.0, 10, seconds) for seconds in by_time} == by_time
    assert plausibility(5.0, 300, 0) == 0.231  # (1.462 - 1) / 2
    assert plausibility(5.0, 300, 900) == 0.116
    assert plausibility(5.0, 500, 0) == 0.0
