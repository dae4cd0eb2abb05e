"""Which data files are selected: their applicable days, level, product, type, version, and lost packets."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import Enum

from graph.core.errors import BadUserInput
from graph.domains.data_files.counts import CountedKind
from graph.domains.data_files.versions import major_of, order_of
from graph.store.conditions import Absent, AllOf, AnyOf, Compare, Condition, OneOf
from graph.store.time_walk import Keep

VERSION_READ = frozenset({"data-level", "data-product", "data-version"})


MOST_WORDS = 100  # of a list in a filter


class VersionRule(Enum):
    """Which versions of the files of a product and day are selected."""

    ALL = "ALL"
    LATEST_MAJOR = "LATEST_MAJOR"  # all those of the latest major version
    LATEST = "LATEST"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSelection:
    """The selected files."""

    first: date | None = None
    last: date | None = None  # inclusive
    levels: tuple[str, ...] | None = None
    products: tuple[str, ...] | None = None
    data_type: str | None = None
    version: VersionRule | str = VersionRule.ALL  # or an exact version of the algorithm
    missing_packets_gt: int | None = None

    def __post_init__(self) -> None:
        if self.first and self.last and self.first > self.last:
            raise BadUserInput("`startDate` must not be after `endDate`.")
        for name, words in (("levels", self.levels), ("products", self.products)):
            if words is not None and len(words) > MOST_WORDS:
                raise BadUserInput(f"`{name}` takes at most {MOST_WORDS} values.")

    @property
    def condition(self) -> Condition:
        """The part of the filter that stores test."""
        words = {"data-level": self.levels, "data-product": self.products}
        equal = {
            "data-type": self.data_type,
            "data-version": self.version if isinstance(self.version, str) else None,
        }
        more = self.missing_packets_gt
        missing = "most-missing" if self.data_type is None else "most-missing-of-type"
        given = [Compare(name, "=", value) for name, value in equal.items() if value is not None]
        some = [OneOf(name, values) for name, values in words.items() if values is not None]
        return AllOf((self._once, *some, *given, *([] if more is None else [Compare(missing, ">", more)])))

    @property
    def _once(self) -> Condition:
        """Of a file's items, only the first one within the days: so a file is listed once."""
        earlier = "earlier-date" if self.data_type is None else "earlier-date-of-type"
        if self.first is None:
            return Absent(earlier)
        return AnyOf((Absent(earlier), Compare(earlier, "<", self.first.isoformat())))

    def counts(self, kind: CountedKind) -> bool:
        """Whether items of this kind may be selected."""
        return (
            (self.levels is None or kind.level in self.levels)
            and (self.products is None or kind.product in self.products)
            and (isinstance(self.version, VersionRule) or kind.version == self.version)
        )

    def is_latest(self, version: str, latest: str) -> bool:
        """Whether a version is selected beside the latest one of its series."""
        if self.version is VersionRule.LATEST:
            return order_of(version) == order_of(latest)
        return major_of(version) == major_of(latest)


class LatestVersions:
    """The latest versions of the days and products that a walk has come to: those of one day and product compete."""

    def __init__(self, selection: FileSelection) -> None:
        self._selection = selection
        self.compares = selection.version in (VersionRule.LATEST, VersionRule.LATEST_MAJOR)
        self._latest: dict[tuple[str, str, str], str] = {}  # by day, level and product

    @property
    def keep(self) -> Keep | None:
        """The part of the filter that stores cannot test; None if it selects all versions, or one."""
        if not self.compares:
            return None
        return Keep(lambda item: self.has(item["applicable-date"], CountedKind.of_item(item)), VERSION_READ)

    def note(self, day: str, kinds: Iterable[CountedKind]) -> None:
        """Note the versions of a day."""
        if not self.compares:
            return
        for level, product, version in kinds:
            known = self._latest.get((day, level, product))
            if known is None or order_of(known) < order_of(version):
                self._latest[day, level, product] = version

    def has(self, day: str, kind: CountedKind) -> bool:
        """Whether files of a day, whose versions were noted, are among those of the latest versions."""
        if not self.compares:
            return True
        level, product, version = kind
        return self._selection.is_latest(version, self._latest.get((day, level, product), version))
