"""Events grouped by a text, and the extent of a number: what a list would otherwise be counted for. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from graph.core.described import DescribedText, described, optional, value
from graph.core.errors import BadUserInput

MOST_GROUPS = 1_000


class EventGrouping(DescribedText):
    """What events are grouped by."""

    NETWORK = "NETWORK", "The preferred network; of an event that names none, the first letters of its id."
    TYPE = "TYPE", "The type of event."
    MAGNITUDE_TYPE = "MAGNITUDE_TYPE", "The type of magnitude."
    PLACE = (
        "PLACE",
        "The region: what follows the last comma of `place`; without a comma, what follows the last ` of `; or else "
        "the whole. `8 km E of Pāhala, Hawaii` is `Hawaii`, and `south of the Fiji Islands` is `the Fiji Islands`.",
    )


@value
class EventGroup:
    """The events with one text."""

    name: str = described("The text. Of all but a region, in lower case, with a space for each `_`.")
    count: int = described("The number of events.")
    greatest_magnitude: float | None = described(
        "The magnitude of the largest event; null where too many events to be read are counted from summaries."
    )


@value
class EventGroups:
    """Events by a text."""

    groups: tuple[EventGroup, ...] = described("The groups, the most events first.", default=())
    total_count: int = described("The number of all groups.", default=0)
    unknown: int = described("Events without the text.", default=0)
    reason: str | None = optional("Why there are no groups; null if there are.")


@value
class NumberSummary:
    """The extent of a number."""

    known: int = described("The number of events that have it.", default=0)
    least: float | None = optional("The least; null if no event has it.")
    greatest: float | None = optional("The greatest; null if no event has it.")
    mean: float | None = optional("The mean; null if no event has it.")
    reason: str | None = optional("Why it is not known; null if it is.")


class Groups:
    """Groups events, some at a time."""

    def __init__(self, by: EventGrouping, limit: int) -> None:
        """Begin with no events.

        Raises:
            BadUserInput: The limit is not possible.
        """
        if not 1 <= limit <= MOST_GROUPS:
            raise BadUserInput(f"`limit` must be from 1 to {MOST_GROUPS:,}.")
        self._limit = limit
        self._name_of = region_of if by is EventGrouping.PLACE else _plain
        self._names: dict[str | None, str] = {}  # by text
        self._found: dict[str, tuple[int, float | None]] = {}

    def add(self, texts: Iterable[str | None], magnitudes: Iterable[float]) -> None:
        """Add events by their texts and magnitudes."""
        names, found = self._names, self._found
        for text, magnitude in zip(texts, magnitudes, strict=True):
            if (name := names.get(text)) is None:
                name = names[text] = self._name_of(text or "")
            count, greatest = found.get(name, (0, magnitude))
            found[name] = count + 1, magnitude if greatest is None else max(greatest, magnitude)

    def count(self, counts: Mapping[str, int]) -> None:
        """Add the number of events of each name."""
        self._found |= {name: (count, None) for name, count in counts.items()}

    def found(self) -> EventGroups:
        """The groups."""
        unknown, _ = self._found.pop("", (0, None))
        groups = sorted(self._found.items(), key=lambda each: (-each[1][0], each[0]))
        shown = [EventGroup(name, count, greatest) for name, (count, greatest) in groups[: self._limit]]
        return EventGroups(tuple(shown), len(groups), unknown)


def region_of(place: str) -> str:
    """The region of a place's name, see `EventGrouping.PLACE`."""
    place = place.strip(", ")
    return place.rpartition("," if "," in place else " of ")[2].strip()


def _plain(text: str) -> str:
    return text.casefold().replace("_", " ").strip()


def summary_of(numbers: Sequence[float]) -> NumberSummary:
    """The extent of the known numbers."""
    if not numbers:
        return NumberSummary()
    return NumberSummary(len(numbers), min(numbers), max(numbers), fsum(numbers) / len(numbers))
