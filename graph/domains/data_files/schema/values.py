"""Values of data files: versions that are selected, and enums."""

from typing import Any, NewType

import strawberry

from graph.api.schema import Scalars
from graph.domains.data_files.model import LONGEST_VERSION, RegistrationProblem
from graph.domains.data_files.provenance.lineage import Direction
from graph.domains.data_files.selection import VersionRule

VersionSelector = NewType("VersionSelector", str)

ALL = VersionSelector(VersionRule.ALL.value)
_RULES = {rule.value: rule for rule in VersionRule}


def _parse_version(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_VERSION or not value.isascii():
        raise ValueError("it must be ALL, LATEST_MAJOR, LATEST, or a version such as 1.2.3 in quotes")
    return value


def rule_of(version: str) -> VersionRule | str:
    """The rule that a selector names, or the exact version."""
    return _RULES.get(version, version)


SCALARS: Scalars = {
    VersionSelector: strawberry.scalar(
        name="VersionSelector",
        description="The versions that are selected: `ALL`, `LATEST_MAJOR` (all those of the latest major version), "
        '`LATEST`, or an exact one, such as `"1.2.3"`. An argument may be written with quotes or without.',
        serialize=str,
        parse_value=_parse_version,
    ),
}

strawberry.enum(Direction, name="LineageDirection")
strawberry.enum(RegistrationProblem, name="DataFileProblem")
