"""A USGS with a history: the real week as it might have been published, revised, renamed, merged and deleted.

Every event of a sample of the week has a life: its versions, each with the time at which USGS's index has it. A seed
decides all of them. `now` is the time of the server, which the test sets: all answers are those of this time, and
`truth` is the catalogue that a reader should have by then. What the FDSN service does with a deleted event, a merged
one and an event id is what its source does.

Source: github.com/usgs/earthquake-event-ws, `FDSNEventWebService.class.php`, `FDSNIndex.class.php`,
`GeoJSONFeed.class.php`, and of usgs/pdl, `docs/indexer.md`.
"""

import random
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tests.domains.earthquakes.usgs.usgs_server import Holdings, epoch_ms, time_ms, week_features

MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
BEGINNING = 1_690_513_200_000  # 2023-07-28T03:00:00Z, before the first event of the week
LATE_MS = 40 * DAY_MS  # after which even the feed of the month has forgotten an event

Feature = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Version:
    """What USGS's index says of an event from some time on."""

    since: int  # epoch milliseconds; a product arrives up to an hour after its own time
    feature: Feature
    gone: bool = False  # another event has taken over its ids


@dataclass(slots=True)
class Life:
    """The versions of one event, in the order of time."""

    versions: list[Version] = field(default_factory=list)

    def at(self, now: int) -> Version | None:
        """The version of that time; None if there is none yet, or none any more."""
        current = None
        for version in self.versions:
            if version.since <= now:
                current = version
        return None if current is None or current.gone else current


@dataclass(frozen=True, slots=True)
class Truth:
    """The catalogue of USGS at some time."""

    events: dict[str, Feature]  # preferred id → event, without the deleted ones and those without a magnitude
    names: dict[str, str]  # every id of these events → the preferred one
    deleted: frozenset[str]  # every id of a deleted event


class UsgsHistory(Holdings):
    """The lives of some events, and a server that answers as of `now`."""

    def __init__(self, seed: int, *, events: int = 120, limit: int = 20_000) -> None:
        super().__init__([], limit=limit)  # events in one answer
        chosen = random.Random(seed)
        features = sorted(chosen.sample(week_features(), events), key=time_ms)
        plots = cycle(_PLOTS)
        self.now = BEGINNING
        self.known_as: dict[str, str] = {}  # id → another one, which USGS mistakes it for
        self.lives = [life for feature in features for life in _written(next(plots), _Author(chosen, feature))]

    @property
    def end(self) -> int:
        """The time after which nothing changes, epoch milliseconds."""
        return self.moments[-1]

    @property
    def generated_ms(self) -> int:
        return self.now - self.now % MINUTE_MS

    def held(self) -> list[Feature]:
        """The events in USGS's index, deleted ones among them, latest first."""
        versions = [version.feature for life in self.lives if (version := life.at(self.now))]
        return sorted(versions, key=time_ms, reverse=True)

    def admits(self, feature: Feature, asked: Mapping[str, str]) -> bool:
        updated_after = epoch_ms(asked["updatedafter"]) if "updatedafter" in asked else None
        return (updated_after is None or feature["properties"]["updated"] >= updated_after) and (
            asked.get("includedeleted") == "true" or not _is_deleted(feature)
        )

    @property
    def truth(self) -> Truth:
        """What a catalogue that follows USGS should hold now."""
        alive = {f["id"]: f for f in self.held() if not _is_deleted(f) and f["properties"]["mag"] is not None}
        names = {name: preferred for preferred, feature in alive.items() for name in ids_of(feature)}
        deleted = frozenset(name for feature in self.held() if _is_deleted(feature) for name in ids_of(feature))
        return Truth(alive, names, deleted)

    @property
    def moments(self) -> list[int]:
        """The times at which anything changes, epoch milliseconds."""
        return sorted({version.since for life in self.lives for version in life.versions})

    async def query(self, request: Request) -> Response:
        """Answer a query, which may be for an id."""
        if "eventid" in request.query_params:
            return self._event(request.query_params["eventid"])
        return await super().query(request)

    def _event(self, event_id: str) -> Response:
        for feature in self.held():
            if self.known_as.get(event_id, event_id) in ids_of(feature):
                if _is_deleted(feature):
                    return PlainTextResponse("Error 409: Conflict", status_code=409)
                products = {"origin": [{"code": event_id, "status": "UPDATE"}]}
                detail = {**feature, "properties": {**feature["properties"], "products": products}}
                return Response(orjson.dumps(detail), media_type="application/json")
        return PlainTextResponse("Error 404: Not Found", status_code=404)


def ids_of(feature: Feature) -> list[str]:
    """All ids of an event."""
    names: str = feature["properties"]["ids"]
    return names.strip(",").split(",")


def _is_deleted(feature: Feature) -> bool:
    return bool(feature["properties"]["status"] == "deleted")


# The lives


class _Author:
    """Writes the life of one event: each call is a version, some time after the one before."""

    def __init__(self, chosen: random.Random, feature: Feature) -> None:
        self.chosen = chosen
        self.life = Life()
        self.lives = [self.life]  # those that the plot tells of
        self.feature = deepcopy(feature)
        self._published = 0
        self.set(ids=f",{feature['id']},", status="automatic", felt=None, alert=None, tsunami=0)
        self.begin = time_ms(feature) + chosen.randrange(2, 20) * MINUTE_MS

    def set(self, **properties: Any) -> None:
        """Change the event, unpublished."""
        self.feature = {**self.feature, "properties": {**self.feature["properties"], **properties}}

    def publish(
        self, at: int | None = None, *, after_ms: int | None = None, gone: bool = False, **properties: Any
    ) -> int:
        """Publish the event as it is now, with these changes. Returns when USGS has it."""
        soon = round(MINUTE_MS * 10 ** self.chosen.uniform(0.7, 3.2))  # five minutes to a day
        previous = self.life.versions[-1].since if self.life.versions else self.begin
        since = at if at is not None else previous + (soon if after_ms is None else after_ms)
        # USGS's times of products only grow, and each lies up to an hour before the product is in the index.
        self._published = max(self._published + 1, since - self.chosen.choice([0, MINUTE_MS, HOUR_MS]))
        self.set(**properties, updated=self._published)
        self.life.versions.append(Version(since, deepcopy(self.feature), gone))
        return since

    def add_id(self, event_id: str) -> None:
        """Give the event another id, which is not its preferred one."""
        self.set(ids=f"{self.feature['properties']['ids']}{event_id},")

    def prefer(self, event_id: str) -> None:
        """Make this the preferred id."""
        if event_id not in ids_of(self.feature):
            self.add_id(event_id)
        self.feature = {**self.feature, "id": event_id}
        self.set(
            net=event_id[:2], code=event_id[2:], url=f"https://earthquake.usgs.gov/earthquakes/eventpage/{event_id}"
        )

    def move(self, *, km: float = 0.0, depth: float | None = None) -> None:
        """Move the event north, and to another depth."""
        lon, lat, down = self.feature["geometry"]["coordinates"]
        place = [lon, max(min(round(lat + km / 111.0, 4), 89.0), -89.0), down if depth is None else depth]
        self.feature = {**self.feature, "geometry": {"type": "Point", "coordinates": place}}

    @property
    def other_id(self) -> str:
        """An id of another network for the event."""
        return f"us6{self.feature['id']}"


_Plot = Callable[["_Author"], None]


def _written(plot: _Plot, author: _Author) -> list[Life]:
    """The lives of an event, and of another one that it is merged with."""
    plot(author)
    return author.lives


def _unchanged(author: _Author) -> None:
    author.publish()


def _revised(author: _Author) -> None:
    """Most events: another magnitude, then a place, and at last an analyst."""
    author.publish()
    author.publish(mag=round(author.feature["properties"]["mag"] + author.chosen.choice([-0.7, -0.1, 0.2, 1.3]), 2))
    author.set(place="12 km N of Elsewhere")
    author.move(km=39, depth=author.chosen.choice([None, -1.5, 12.25]))
    author.publish()
    author.publish(
        status="reviewed", magType="mw", time=time_ms(author.feature) + author.chosen.choice([-900, 0, 1700])
    )


def _moved_across_midnight(author: _Author) -> None:
    author.publish()
    midnight = time_ms(author.feature) - time_ms(author.feature) % DAY_MS
    author.publish(after_ms=HOUR_MS, time=midnight - 1)
    author.publish(after_ms=HOUR_MS, time=midnight)


def _felt(author: _Author) -> None:
    """Reports, which are no revision, then an alert and a tsunami, which are."""
    author.publish()
    for felt in (3, 250):
        author.publish(felt=felt, cdi=3.1, sig=felt)
    author.publish(alert="green")
    author.publish(alert="yellow", tsunami=1)


def _renamed(author: _Author) -> None:
    """First an id of a global network, then that of the region; both stay."""
    regional = author.feature["id"]
    author.set(ids=",")
    author.prefer(author.other_id)
    author.publish()
    author.prefer(regional)
    author.publish()
    author.add_id(f"at{regional}")
    author.publish(status="reviewed")


def _merged(author: _Author) -> None:
    """Two networks publish the same earthquake, until somebody sees it."""
    author.publish()
    other = _Author(author.chosen, author.feature)
    other.set(ids=",", time=time_ms(author.feature) + 3100)
    other.prefer(author.other_id)
    other.move(km=20)
    other.publish(at=author.life.versions[0].since + HOUR_MS)
    author.add_id(author.other_id)
    if author.chosen.random() < 0.5:
        author.prefer(author.other_id)
        author.move(km=20)
    merged = author.publish(at=other.life.versions[0].since + author.chosen.choice([HOUR_MS, DAY_MS]))
    other.publish(at=merged, gone=True)
    author.publish(mag=round(author.feature["properties"]["mag"] + 0.1, 2))
    author.lives.append(other.life)


def _deleted(author: _Author, *, after_ms: int | None = None) -> None:
    author.publish()
    _delete(author)
    author.publish(after_ms=after_ms)


def _restored(author: _Author) -> None:
    author.publish()
    mag = author.feature["properties"]["mag"]
    _delete(author)
    author.publish()
    author.publish(after_ms=author.chosen.choice([HOUR_MS, 2 * DAY_MS]), status="reviewed", mag=mag)


def _without_magnitude_at_first(author: _Author) -> None:
    mag = author.feature["properties"]["mag"]
    author.publish(mag=None)
    author.publish(after_ms=3 * HOUR_MS, mag=mag)


def _published_days_later(author: _Author) -> None:
    author.publish(after_ms=author.chosen.randrange(2, 6) * DAY_MS)
    author.publish(status="reviewed")


def _revised_long_after(author: _Author) -> None:
    author.publish()
    author.publish(after_ms=LATE_MS, mag=round(author.feature["properties"]["mag"] - 0.3, 2), status="reviewed")


def _weeks_later(author: _Author) -> None:
    """Another event, at the time at which the others are revised for the last time."""
    author.set(time=time_ms(author.feature) + LATE_MS)
    author.begin += LATE_MS
    author.publish()


def _delete(author: _Author) -> None:
    """Of a deleted origin, USGS often keeps no details."""
    author.set(status="deleted", mag=author.chosen.choice([None, author.feature["properties"]["mag"]]))


_PLOTS: tuple[_Plot, ...] = (
    *(_revised, _unchanged, _renamed, _revised, _merged, _deleted, _felt, _moved_across_midnight),
    *(_revised, _restored, _without_magnitude_at_first, _published_days_later, _merged, _renamed),
    *(_revised_long_after, partial(_deleted, after_ms=LATE_MS), _weeks_later),
)
