"""How far a b-value can be trusted, and why not, in plain words. No I/O."""

from dataclasses import dataclass

from graph.core.described import DescribedText
from graph.domains.statistics.goodness_of_fit import REJECTED_BELOW, SAMPLES, GoodnessOfFit
from graph.domains.statistics.great_events import GreatEvents
from graph.domains.statistics.networks import Mixture

SCATTER_BELOW = 0.06  # so that all tests together object to one exponential sample in nine
CLEARLY_BELOW = 0.01  # of the distance; what is less clear, the other tests find more often
GREAT_DISTANCE = 0.05  # between the cumulative distributions; a great sample is rejected for much less
NAMED_NETWORKS = 4


class Reliability(DescribedText):
    """How far a b-value can be trusted."""

    GOOD = "GOOD", "No test contradicts the fit."
    DOUBTFUL = "DOUBTFUL", "One test contradicts the fit, by little: use it with its `reason` in mind."
    POOR = "POOR", "The events have no common slope: do not use it."


@dataclass(frozen=True, slots=True)
class Verdict:
    """The reliability of a b-value, with the reason unless it is good."""

    reliability: Reliability
    reason: str | None = None


def verdict(fit: GoodnessOfFit, mixed: Mixture | None, great: GreatEvents | None = None) -> Verdict:
    """Judge a b-value.

    Args:
        mixed: None if the networks are not known.
        great: None if they are not compared.
    """
    found: list[tuple[Reliability, str]] = []
    if mixed and mixed.is_harmful:
        found.append((Reliability.POOR, _of_mixture(mixed)))
    if fit.p_value < CLEARLY_BELOW:
        found.append(
            (
                Reliability.POOR if fit.distance > GREAT_DISTANCE else Reliability.DOUBTFUL,
                f"The magnitudes are not exponential above the completeness: their cumulative distribution is off by "
                f"{fit.distance:.3f}, as at most {max(fit.p_value, 1 / SAMPLES):.2%} of exponential samples are.",
            )
        )
    if great and great.p_value < REJECTED_BELOW:
        found.append(
            (
                Reliability.DOUBTFUL,
                f"The great events do not fit: {great.events:,} have at least magnitude {great.magnitude:.1f}, "
                f"where the relation expects {great.expected:.2g}.",
            )
        )
    if fit.scatter_p_value < SCATTER_BELOW:
        found.append(
            (
                Reliability.DOUBTFUL,
                f"The magnitudes scatter more than exponential ones, with {fit.scatter:.2f} times their variance: "
                f"the events mix slopes.",
            )
        )
    if fit.is_stable is False:
        found.append(
            (
                Reliability.DOUBTFUL,
                f"b rises with the completeness: over half a magnitude, its mean is {fit.b_change:.2f} standard "
                f"deviations higher. Small events are missing, so the completeness is probably higher.",
            )
        )
    if not found:
        return Verdict(Reliability.GOOD)
    level = Reliability.POOR if any(each is Reliability.POOR for each, _ in found) else Reliability.DOUBTFUL
    return Verdict(level, " ".join(reason for _, reason in found))


def _of_mixture(mixed: Mixture) -> str:
    named = ", ".join(
        f"{each.network} ({each.least if each.completeness is None else each.completeness:.1f})"
        for each in mixed.incomplete[:NAMED_NETWORKS]
    )
    more = len(mixed.incomplete) - NAMED_NETWORKS
    others = f" and {more} more" if more > 0 else ""
    return (
        f"The events mix {len(mixed.networks)} networks, of which some are complete only from higher magnitudes: "
        f"{named}{others}, with {mixed.part:.0%} of the events. Select one region, or a greater `minMagnitude`."
    )
