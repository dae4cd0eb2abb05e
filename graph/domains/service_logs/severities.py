"""Severities by the names and numbers that programs have for them.

The ranges are those of OpenTelemetry's data model, where each name may have a digit, such as INFO2. Names of syslog,
Log4j, Zap, java.util.logging and .NET have the numbers of its appendix B, letters are those of klog and Android.

Source: https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber
"""

_RANGES = {"trace": 1, "debug": 5, "info": 9, "warn": 13, "error": 17, "fatal": 21}
_NAMES = {
    1: "finest verbose trce trc vrb t v",
    5: "finer dbug dbg d",
    6: "fine",
    7: "config",
    9: "information informational inf log success i",
    10: "notice n",
    13: "warning wrn w",
    17: "err severe fail e",
    18: "crit critical dpanic c",
    19: "alert a",
    21: "emerg emergency panic ftl f",
}
_SEVERITIES = {name: severity for severity, names in _NAMES.items() for name in names.split()} | {
    f"{name}{nth}": least + int(nth or 1) - 1 for name, least in _RANGES.items() for nth in ("", *"1234")
}
_OF_SYSLOG = (21, 19, 18, 17, 13, 10, 9, 5)  # by its numbers, 0 to 7, as GELF has them, too
_OF_TENS = (1, 5, 9, 13, 17, 21)  # of pino and Bunyan: 10 for trace, 20 for debug, and so on


def severity_of(given: str | int) -> int | None:
    """The severity number of a name of any case, or of a number of a logging library; None for any other."""
    name = str(given).strip(" \t\r\n[]<>():").lower()
    if name.isascii() and name.isdigit() and len(name) <= 2:
        number = int(name)
        if number < len(_OF_SYSLOG):
            return _OF_SYSLOG[number]
        return _OF_TENS[number // 10 - 1] if 10 <= number < 70 else None
    return _SEVERITIES.get(name)
