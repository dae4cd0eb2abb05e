from dataclasses import dataclass
from typing import Any


@dataclass
class FeltReport:
    x: Any = None


def added(reports):
    return []


def felt_report(*a):
    return FeltReport()
