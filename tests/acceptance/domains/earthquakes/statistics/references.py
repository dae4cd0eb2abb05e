"""What statistics are tested beside: SeismoStats, whose import warns of what its own libraries deprecated."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from seismostats.analysis import BPositiveBValueEstimator, ClassicAValueEstimator, estimate_mc_maxc
    from seismostats.analysis.bvalue import UtsuBValueEstimator
    from seismostats.analysis.estimate_mc import ks_test_gr

__all__ = [
    "BPositiveBValueEstimator",
    "ClassicAValueEstimator",
    "UtsuBValueEstimator",
    "estimate_mc_maxc",
    "ks_test_gr",
]
