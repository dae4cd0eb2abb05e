"""A selection of events: a filter's values, and their meaning for items."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

from graph.core.days import DAY_MS, FIRST_MS, LAST_MS
from graph.core.errors import BadUserInput
from graph.core.spans import TimeSpan
from graph.domains.earthquakes.assessments import AlertLevel, ReviewStatus
from graph.domains.earthquakes.facets import (
    ALERT,
    DEPTH,
    FELT,
    GAP,
    MAGNITUDE_TYPE,
    NETWORK,
    SIGNIFICANCE,
    STATUS,
    TSUNAMI,
    TYPE,
    Names,
    NumberFacet,
    TextFacet,
)
from graph.domains.earthquakes.magnitudes import MagnitudeRange
from graph.domains.earthquakes.model import Event
from graph.domains.earthquakes.selection.conditions import (
    Fdsn,
    any_key,
    any_text,
    at_least,
    at_most,
    check_order,
    check_possible,
    conditions_of,
    flag,
    given_in,
    part_of_text,
    refuse_impossible,
)
from graph.domains.earthquakes.selection.criteria import (
    ByArea,
    ByFacet,
    ByMagnitude,
    Criterion,
    InAll,
    InAny,
    InNone,
    InTime,
    OnDays,
)
from graph.geography.areas import GREATEST_RADIUS_KM, Area, Box, Circle
from graph.geography.polygon import Polygon
from graph.store.conditions import Absent, AllOf, AnyOf, Compare, Condition, OneOf, all_of, names_in, negated, predicate
from graph.store.entity import Item
from graph.store.time_walk import Keep, keep_all

MOST_DAYS_AROUND = 3_653  # ten years
VALUES_AS_ONE = 10  # of a list, that count as one condition
NAMED_BY = frozenset({"eventId", "preferredId", "ids", "names"})  # attributes with the ids of an event
UNTRACKED = frozenset({"felt", "sig", "cdi", "mmi", "gap"})  # are updated in place: see `revisions.versions`
SIZE_AS_ONE = 8  # conditions in selections of a selection that take as long to test as a usual filter


@dataclass(frozen=True, slots=True)
class Selection:
    """The events of a query. None means no condition; every bound is inclusive."""

    start_ms: int | None = None  # origin time, epoch milliseconds
    end_ms: int | None = None
    magnitudes: MagnitudeRange = field(default_factory=MagnitudeRange)
    min_depth: float | None = at_least(DEPTH, "Least depth, km, inclusive; leaves out events without a depth.")
    max_depth: float | None = at_most(DEPTH, "Greatest depth, km, inclusive; leaves out events without a depth.")
    box: Box | None = None
    circle: Circle | None = None
    polygon: Polygon | None = None
    types: tuple[str, ...] | None = any_text(TYPE, "Any of these types of event, such as `earthquake`")
    networks: tuple[str, ...] | None = any_text(NETWORK, "Any of these preferred networks, such as `nc`")
    mag_types: tuple[str, ...] | None = any_text(MAGNITUDE_TYPE, "Any of these types of magnitude, such as `mww`")
    statuses: tuple[str, ...] | None = any_text(STATUS, "Any of these review statuses", ReviewStatus)
    alerts: tuple[str, ...] | None = any_text(ALERT, "Any of these PAGER alert levels", AlertLevel)
    tsunami: bool | None = flag(
        TSUNAMI, "Whether USGS linked it to a tsunami message. An event that does not say is `false`."
    )
    min_felt: int | None = at_least(FELT, "Least number of felt reports, inclusive.", Fdsn("minfelt", 1))
    min_sig: int | None = at_least(SIGNIFICANCE, "Least significance, inclusive.", Fdsn("minsig", 0))
    max_sig: int | None = at_most(SIGNIFICANCE, "Greatest significance, inclusive.", Fdsn("maxsig", 0))
    min_cdi: float | None = at_least("cdi", "Least intensity by felt reports, inclusive.", Fdsn("mincdi"))
    min_mmi: float | None = at_least("mmi", "Least intensity of the ShakeMap, inclusive.", Fdsn("minmmi"))
    min_gap: float | None = at_least(GAP, "Least angle without a station, degrees, inclusive.", Fdsn("mingap"))
    max_gap: float | None = at_most(GAP, "Greatest angle without a station, degrees, inclusive.", Fdsn("maxgap"))
    place: str | None = part_of_text(
        "place", "A part of the place's name, without regard to case, accents and apostrophes: `pahala`."
    )
    event_ids: tuple[str, ...] | None = any_key(
        "eventId", "These events, by their global ids, their own ids or any alias; at most 100."
    )
    days: frozenset[str] | None = None  # the day buckets of the events with these ids, if they are known
    updated_since_ms: int | None = None  # only events of which anything was stored at this time or later
    excluded_id: str | None = None  # id of an excluded event
    any_of: tuple["Selection", ...] = ()  # each event is in one of these, if there are any
    none_of: "Selection | None" = None  # no event is in this one

    @classmethod
    def around(cls, event: Event, *, radius_km: float, days: float) -> Self:
        """The other events within a distance and within so many days on either side.

        Raises:
            BadUserInput: The distance or the time is not possible.
        """
        if not 0 <= days <= MOST_DAYS_AROUND:
            raise BadUserInput(f"`days` must be from 0 to {MOST_DAYS_AROUND:,}.")
        if not 0 <= radius_km <= GREATEST_RADIUS_KM:
            raise BadUserInput(f"`radiusKm` must be from 0 to {GREATEST_RADIUS_KM:,}.")
        reach = int(days * DAY_MS)
        return cls(
            start_ms=event.event_ts_ms - reach,
            end_ms=event.event_ts_ms + reach,
            circle=Circle(event.lat, event.lon, radius_km),
            excluded_id=event.event_id,
        )

    def __post_init__(self) -> None:
        check_order("startTime", self.start_ms, "endTime", self.end_ms)
        check_order("minMagnitude", self.magnitudes.minimum, "maxMagnitude", self.magnitudes.maximum)
        check_order("minDepth", self.min_depth, "maxDepth", self.max_depth)
        check_possible("minMagnitude", self.magnitudes.minimum)
        check_possible("maxMagnitude", self.magnitudes.maximum)
        refuse_impossible(self)

    @property
    def span(self) -> tuple[int, int]:
        """The first and last millisecond that an event may have; by default those of the calendar."""
        first = FIRST_MS if self.start_ms is None else max(self.start_ms, FIRST_MS)
        last = LAST_MS if self.end_ms is None else min(self.end_ms, LAST_MS)
        if self.any_of:
            firsts, lasts = zip(*[each.span for each in self.any_of], strict=True)
            first, last = max(first, min(firsts)), min(last, max(lasts))
        return first, last

    @property
    def nested(self) -> tuple["Selection", ...]:
        """The selections in this one."""
        return self.any_of if self.none_of is None else (*self.any_of, self.none_of)

    @property
    def depth(self) -> int:
        """The levels of selections in this one."""
        return max([1 + each.depth for each in self.nested], default=0)

    @property
    def size(self) -> int:
        """The number of conditions in it. An area counts as three, a list once for each ten values."""
        values = [value for _, value in given_in(self)] + ([self.polygon.points] if self.polygon else [])
        lists = sum([(len(value) - 1) // VALUES_AS_ONE for value in values if isinstance(value, tuple)])
        bounds = self.start_ms, self.end_ms, self.magnitudes.minimum, self.magnitudes.maximum
        own = len(given_in(self)) + lists + 3 * len(self.areas) + sum([each is not None for each in bounds])
        return own + sum([max(each.size, 1) for each in self.nested])

    @property
    def weight(self) -> int:
        """The work of a test, as a multiple of a usual filter's."""
        return 1 + sum([each.size for each in self.nested]) // SIZE_AS_ONE

    @property
    def areas(self) -> tuple[Area, ...]:
        """The areas that all of the events lie in."""
        return tuple(area for area in (self.box, self.circle, self.polygon) if area is not None)

    @property
    def is_counted(self) -> bool:
        """Whether the criteria are the whole filter, beside time."""
        others = self.updated_since_ms, self.excluded_id
        return others == (None, None) and all(each.is_counted for each, _ in given_in(self))

    @property
    def summarised(self) -> bool:
        """Whether summaries and the days at the ends of the time range give the exact number of matching events."""
        return self.is_counted and not self.criteria and self.magnitudes.on_tenths

    @property
    def criteria(self) -> list[Criterion]:
        """What summaries tell of the filter, beside time, magnitudes and `updated_since_ms`."""
        names: list[Names] = []
        ranges: dict[NumberFacet, dict[str | None, float]] = {}
        for each, value in given_in(self):
            match each.of:
                case TextFacet() as facet:
                    names.append(facet.names(each.texts(value)))
                case NumberFacet() as facet:
                    ranges.setdefault(facet, {})[each.operator] = value
        names += [facet.names(ends.get(">="), ends.get("<=")) for facet, ends in ranges.items()]
        criteria: list[Criterion] = [*map(ByFacet, names), *(ByArea(area.cells) for area in self.areas)]
        if self.days is not None:
            criteria.append(OnDays(self.days))
        if self.any_of:
            criteria.append(InAny(tuple([each.whole for each in self.any_of])))
        if self.none_of is not None:
            criteria.append(InNone(self.none_of.whole))
        return criteria

    @property
    def whole(self) -> InAll:
        """What summaries tell of the whole filter: of one in another one."""
        criteria = self.criteria
        if not self.magnitudes.everything:
            criteria.append(ByMagnitude(self.magnitudes))
        if (self.start_ms, self.end_ms) != (None, None):
            criteria.append(InTime(TimeSpan.of(*self.span)))
        return InAll(tuple(criteria), self.is_counted)

    @property
    def condition(self) -> Condition | None:
        """The part of the filter, beside time, that a store can test."""
        given = [each for each in given_in(self) if each[0].of != "eventId" or self._is_located]
        bounds = [each.test(value) for each, value in given if each.operator]
        others = [each.test(value) for each, value in given if not each.operator]
        return all_of(
            _at_least("mag", self.magnitudes.minimum),
            _at_most("mag", self.magnitudes.maximum),
            *bounds,
            *(area.condition for area in self.areas),
            *others,
            _changed_since(self.updated_since_ms),
            *self._nested_conditions,
        )

    @property
    def timed_condition(self) -> Condition | None:
        """The part of the filter, with time, that a store can test: of one in another one."""
        return all_of(_at_least("eventTsMs", self.start_ms), _at_most("eventTsMs", self.end_ms), self.condition)

    @property
    def _nested_conditions(self) -> Iterator[Condition]:
        """What a store can test of the selections in this one: it holds for each event of this one."""
        conditions = [each.timed_condition for each in self.any_of]
        if conditions and (some := [each for each in conditions if each is not None]) == conditions:
            yield AnyOf(tuple(some))
        if self.none_of is not None and self.none_of.is_testable:
            condition = self.none_of.timed_condition
            yield OneOf("eventId", ()) if condition is None else negated(condition)

    @property
    def test(self) -> Keep:
        """The test of the whole filter."""
        first, last = self.span
        condition, keep = self.condition, self.keep
        matches = predicate(condition) if condition else None

        def admitted(item: Item) -> bool:
            return (
                first <= item["eventTsMs"] <= last
                and (matches is None or matches(item))
                and (keep is None or keep.holds(item))
            )

        return Keep(admitted, names_in(condition) | {"eventTsMs"} | (keep.reads if keep else frozenset()))

    @property
    def admits(self) -> Callable[[Item], bool]:
        """A function that returns whether an event's item matches."""
        return self.test.holds

    @property
    def keep(self) -> Keep | None:
        """The rest of the filter, which stores cannot test."""
        excluded_id = self.excluded_id
        keeps = (
            [Keep(lambda item: item["eventId"] != excluded_id, frozenset(("eventId",)))]
            if excluded_id is not None
            else []
        )
        if self.event_ids is not None and not self._is_located:
            wanted = frozenset(self.event_ids)
            keeps.append(Keep(lambda item: not wanted.isdisjoint(Event(item).aliases), NAMED_BY))
        keeps += [Keep(holds, frozenset(("lat", "lon"))) for area in self.areas if (holds := area.holds) is not None]
        if not all(each.is_testable for each in self.any_of):
            some = [each.test for each in self.any_of]
            reads = frozenset[str]().union(*[each.reads for each in some])
            keeps.append(Keep(lambda item: any(each.holds(item) for each in some), reads))
        if self.none_of is not None and not self.none_of.is_testable:
            refused = self.none_of.test
            keeps.append(Keep(lambda item: not refused.holds(item), refused.reads))
        return keep_all(keeps)

    @property
    def is_testable(self) -> bool:
        """Whether stores can test the whole filter."""
        own = self.excluded_id is None and all(isinstance(area, Box) for area in self.areas)
        return own and (self.event_ids is None or self._is_located) and all(each.is_testable for each in self.nested)

    @property
    def _is_located(self) -> bool:
        """Whether its ids are those of events. If not, it takes an event itself to know whether one is an alias."""
        return self.days is not None

    @property
    def lasting(self) -> "Selection":
        """The selection by values that change in a new version alone: it has each event that this one ever had."""
        passing: dict[str, Any] = {
            name: None for name, each in conditions_of(Selection).items() if each.attribute in UNTRACKED
        }
        none_of = self.none_of if self.none_of and self.none_of == self.none_of.lasting else None
        return replace(self, any_of=tuple([each.lasting for each in self.any_of]), none_of=none_of, **passing)


def _at_least(attribute: str, value: float | None) -> Condition | None:
    return None if value is None else Compare(attribute, ">=", value)


def _changed_since(time_ms: int | None) -> Condition | None:
    if time_ms is None:
        return None
    unversioned = AllOf((Absent("recordedAt"), Compare("ingestedAt", ">=", time_ms)))
    return AnyOf((Compare("recordedAt", ">=", time_ms), Compare("changedAt", ">=", time_ms), unversioned))


def _at_most(attribute: str, value: float | None) -> Condition | None:
    return None if value is None else Compare(attribute, "<=", value)
