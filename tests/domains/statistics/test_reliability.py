"""How far b-values can be trusted: of the real week, by network and mixed."""

from dataclasses import replace

from graph.domains.statistics.events import is_earthquake
from graph.domains.statistics.goodness_of_fit import GoodnessOfFit
from graph.domains.statistics.great_events import GreatEvents
from graph.domains.statistics.networks import Mixture, Network, mixture, network_of
from graph.domains.statistics.reliability import Reliability, Verdict, verdict

FITS = GoodnessOfFit(0.01, 0.5, 1.0, 0.5, 0.3, 0.4, True)
ONE = Mixture((Network("ci", 300, 200, 1.0),), (), 0.0)


def test_a_verdict_is_the_worst_of_its_tests() -> None:
    networks = (Network("us", 9, 9, 4.5), Network("ci", 9, 9, 1.0))
    for fit, mixed, expected in (
        (FITS, ONE, Reliability.GOOD),
        (FITS, None, Reliability.GOOD),
        (replace(FITS, distance=0.2, p_value=0.0), ONE, Reliability.POOR),
        (replace(FITS, p_value=0.0), ONE, Reliability.DOUBTFUL),
        (replace(FITS, distance=0.2, p_value=0.01), ONE, Reliability.GOOD),
        (replace(FITS, is_stable=False), ONE, Reliability.DOUBTFUL),
        (replace(FITS, is_stable=None), ONE, Reliability.GOOD),
        (replace(FITS, scatter_p_value=0.055), ONE, Reliability.DOUBTFUL),
        (FITS, Mixture(networks, (), 0.0), Reliability.GOOD),
        (FITS, Mixture(networks, networks[:1], 0.5), Reliability.POOR),
    ):
        found = verdict(fit, mixed)

        assert found.reliability is expected, (fit, mixed)
        assert (found.reason is None) is (expected is Reliability.GOOD)


def test_a_reason_names_great_events_and_claims_no_smaller_part_than_was_simulated() -> None:
    """Of 400 samples, one is a quarter of a percent."""
    assert verdict(FITS, ONE, GreatEvents(6.0, 4, 0.195, 0.003)) == Verdict(
        Reliability.DOUBTFUL,
        "The great events do not fit: 4 have at least magnitude 6.0, where the relation expects 0.2.",
    )
    assert verdict(FITS, ONE, GreatEvents(6.0, 1, 0.195, 0.4)) == Verdict(Reliability.GOOD)

    for fit, said in (
        (replace(FITS, scatter=1.3, scatter_p_value=0.0), "The magnitudes scatter more than exponential ones"),
        (replace(FITS, b_change=1.04, is_stable=False), "its mean is 1.04 standard deviations higher. Small events"),
        (replace(FITS, distance=0.2, p_value=0.0), "as at most 0.25% of exponential samples are"),
    ):
        assert said in (verdict(fit, ONE).reason or "")


def test_a_network_is_incomplete_if_its_maximum_lies_well_above_the_completeness() -> None:
    dense = [("ci", 10)] * 60 + [("ci", 12)] * 40
    near = [("nc", 12)] * 30
    far = [("us", 13)] * 30
    few = [("pr", 25)] * 3 + [("hv", 13)] * 19

    found = mixture([*dense, *near, *far, *few], 1.0)

    assert [network.network for network in found.incomplete] == ["us"]
    assert found.part == 30 / 182
    assert found.is_harmful
    assert found.networks[0] == Network("ci", 100, 100, 1.0, 1.0)
    assert not mixture([*dense, *near], 1.0).is_harmful
    assert not mixture(far, 1.0).is_harmful, "one network is no mixture"
    assert not mixture([*dense, *far], None).is_harmful


def test_a_few_events_are_of_an_incomplete_network_if_all_of_them_are_great() -> None:
    """As in a week of Alaska: 19 events of the whole world's network from 2.5 on, among 250 from 1.3 on."""
    found = mixture([("ak", 13)] * 250 + [("us", 25)] * 19, 1.3)

    assert [each.network for each in found.incomplete] == ["us"]
    assert found.is_harmful
    assert "us (2.5), with 7% of the events" in (verdict(FITS, found).reason or "")


def test_a_network_is_the_sources_own_or_the_letters_of_the_id() -> None:
    for event_id, net, network in (
        ("nc73919986", None, "nc"),
        ("ismpkansas70232", None, "ismpkansas"),
        ("ak023a1b2c3", None, "ak"),
        ("usp000hvnu", "us", "us"),
        ("ci37211552", "nc", "nc"),
        ("12345", None, "12345"),
    ):
        assert network_of({"eventId": event_id} | ({"net": net} if net else {})) == network


def test_an_event_without_another_type_is_an_earthquake() -> None:
    assert all(map(is_earthquake, (None, "", "earthquake", "Earthquake", "EARTHQUAKE", "earthquake ")))
    assert not any(map(is_earthquake, ("quarry blast", "explosion", "ice quake", "Quarry_Blast", "earthquakes")))
