"""The seismic networks that a sample is of, and whether each is complete where the sample is said to be. No I/O.

A network of few stations, or one that reports the whole world, misses small events that a dense network
records. In a mixture, the small events are of the one and the great events of the other, and the slope
between them is of neither: California and Alaska alone each have a b-value of 0.8 in a week whose mixture
with all other networks has 0.4.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from graph.core.described import described, value
from graph.domains.statistics.gutenberg_richter import Counts
from graph.store.entity import Item

LEAST_JUDGED = 20
"""The least number of a network's events that show its maximum: below it, the maximum is chance."""

TOLERATED_TENTHS = 2
"""How far a network's maximum may lie above the completeness: as far as Woessner and Wiemer's correction."""

IMPROBABLE = 0.01
LEAST_B = 0.5  # a low one, so that few small events are not taken for none
"""A network of fewer events is incomplete if all of them lie above the completeness by more than chance allows."""

GREATEST_PART = 0.05
"""The part of a sample that networks with a higher completeness may have."""


@value
class Network:
    """The events of one seismic network."""

    network: str = described("The network's code, such as `nc`; from the event, or else the first letters of its id.")
    events: int = described("Selected events of it.")
    complete: int = described("Of these, events at and above the completeness of the relation.")
    completeness: float | None = described(
        "Its own magnitude of completeness, by maximum curvature without correction; "
        f"null with fewer than {LEAST_JUDGED} events."
    )
    least: float | None = None  # the least magnitude of the complete ones

    def is_late(self, least: float) -> bool:
        """Whether it is complete only above a sample's completeness."""
        tolerated = least + TOLERATED_TENTHS / 10
        if self.completeness is not None:
            return round(self.completeness * 10) > round(tolerated * 10)
        return self.least is not None and 10 ** (-LEAST_B * self.complete * (self.least - tolerated)) < IMPROBABLE


@dataclass(frozen=True, slots=True)
class Mixture:
    """What the networks of a sample say of it."""

    networks: tuple[Network, ...]  # the most events first
    incomplete: tuple[Network, ...]  # those that are complete only above the sample's completeness
    part: float  # of the sample, 0 to 1, that is of the incomplete ones

    @property
    def is_harmful(self) -> bool:
        """Whether the sample is a mixture without a slope of its own."""
        return len(self.networks) > 1 and self.part > GREATEST_PART


def network_of(item: Item) -> str:
    """The code of an event's network: the source's own, or else the letters that the event's id begins with."""
    if network := item.get("net"):
        return str(network)
    event_id: str = item["eventId"]
    for at, character in enumerate(event_id):
        if not ("a" <= character <= "z"):
            return event_id[:at] or event_id
    return event_id


def mixture(events: Iterable[tuple[str, int]], least: float | None) -> Mixture:
    """The networks of a sample.

    Args:
        events: the network and the bin of each, as tenths.
        least: the sample's magnitude of completeness.
    """
    counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for (network, tenths), number in Counter(events).items():
        counts[network][tenths] += number
    begin = None if least is None else round(least * 10)
    networks = [_network(name, of_network, begin) for name, of_network in counts.items()]
    networks.sort(key=lambda network: (-network.events, network.network))
    total = sum(network.complete for network in networks)
    late = tuple(each for each in networks if each.complete and least is not None and each.is_late(least))
    return Mixture(tuple(networks), late, sum(network.complete for network in late) / total if total else 0.0)


def _network(name: str, counts: Counts, begin: int | None) -> Network:
    events = sum(counts.values())
    maximum = min(counts, key=lambda tenths: (-counts[tenths], tenths)) / 10 if events >= LEAST_JUDGED else None
    complete = {tenths: count for tenths, count in counts.items() if count and (begin is None or tenths >= begin)}
    return Network(name, events, sum(complete.values()), maximum, min(complete) / 10 if complete else None)
