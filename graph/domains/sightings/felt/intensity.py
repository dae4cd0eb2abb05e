from typing import Any, NamedTuple


class FeltCell(NamedTuple):
    centre: Any


class FeltIntensities:
    def __init__(self, *c):
        pass


class FeltIntensity(NamedTuple):
    reports: int
