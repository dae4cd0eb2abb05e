"""The interval in which the rate behind a counted number lies, if events are independent. No I/O."""

from math import exp, lgamma, log, sqrt
from statistics import NormalDist

NORMAL_FROM = 10_000
"""Events from which on the approximation of Wilson and Hilferty is exact to a millionth."""

PRECISION = 1e-12


def garwood(events: int, confidence: float) -> tuple[float, float]:
    """The exact interval for the mean of a Poisson distribution of which one number was drawn.

    Args:
        events: the number.
        confidence: the probability that the interval holds the mean, more than 0 and less than 1.

    Source: Garwood (1936), Biometrika 28, 437-442: half the quantiles of chi-square with 2 n and with
        2 n + 2 degrees of freedom, which are quantiles of gamma distributions of shape n and n + 1.
    """
    tail = (1 - confidence) / 2
    return gamma_quantile(events, tail) if events else 0.0, gamma_quantile(events + 1, 1 - tail)


def gamma_quantile(shape: int, probability: float) -> float:
    """The value below which a gamma distribution of scale 1 has this probability.

    Newton's method from the approximation of Wilson and Hilferty (1931), Proceedings of the National
    Academy of Sciences 17, 684-688; by bisection where a step would leave the known interval.
    """
    z = NormalDist().inv_cdf(probability)
    x = shape * max(1 - 1 / (9 * shape) + z / (3 * sqrt(shape)), 0.0) ** 3
    if shape >= NORMAL_FROM:
        return x
    low, high = 0.0, float("inf")
    x = x or 1e-3
    for _ in range(200):
        missed = regularised_gamma(shape, x) - probability
        low, high = (low, x) if missed > 0 else (x, high)
        density = exp((shape - 1) * log(x) - x - lgamma(shape))
        following = x - missed / density if density else 0.0
        if not low < following < high:
            following = (low + high) / 2 if high < float("inf") else 2 * x
        if abs(following - x) <= PRECISION * x:
            return following
        x = following
    return x


def regularised_gamma(shape: float, x: float) -> float:
    """The probability that a gamma variable of scale 1 is at most `x`.

    Source: NIST Digital Library of Mathematical Functions, 8.11.4 (a power series) below the mean and
        8.9.2 (a continued fraction, here by Lentz's method) above it. https://dlmf.nist.gov/8
    """
    if x <= 0:
        return 0.0
    front = exp(shape * log(x) - x - lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        number = shape
        while term > total * 1e-17:
            number += 1
            term *= x / number
            total += term
        return front * total
    b = x + 1 - shape
    c, d = 1e300, 1 / b
    fraction = d
    for number in range(1, 100_000):
        factor = -number * (number - shape)
        b += 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        change = c * d
        fraction *= change
        if abs(change - 1) < 1e-16:
            break
    return 1 - front * fraction
