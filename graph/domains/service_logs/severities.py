"""Severities by the names that programs have for them.

The ranges are those of OpenTelemetry's data model, where each name may have a digit, such as INFO2. Names of syslog
have the numbers of its appendix B.

Source: https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber
"""

_RANGES = {"trace": 1, "debug": 5, "info": 9, "warn": 13, "error": 17, "fatal": 21}
_SYNONYMS = {
    "verbose": 1,
    "information": 9,
    "informational": 9,
    "notice": 10,
    "warning": 13,
    "err": 17,
    "crit": 18,
    "critical": 18,
    "alert": 19,
    "emerg": 21,
    "emergency": 21,
}
_SEVERITIES = (
    _RANGES | _SYNONYMS | {f"{name}{nth}": least + nth - 1 for name, least in _RANGES.items() for nth in range(1, 5)}
)


def severity_of(name: str) -> int | None:
    """The severity number of a name of any case; None for a name that has none."""
    return _SEVERITIES.get(name.lower())
