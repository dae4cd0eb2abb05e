"""A synthetic earthquake catalogue, one USGS-style GeoJSON feature on each line. Equal arguments give equal bytes.

    python -m benchmarks.catalogue --events 1000000 > catalogue.ndjson

Origin times never decrease from line to line. One event in 500 has the time of the line before it, so that some
pages end between events of one time. Magnitudes follow Gutenberg and Richter with b = 1 above 0.5: a million events
have about 10,000 of M2.5 and more, and one of M6.5. One event in 20,000 is drawn from M6.0 upwards instead, so that
there are strong events to find.
"""

import math
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import click
import orjson

DAY_MS = 86_400_000
TIE_EVERY = 500
STRONG_EVERY, FIRST_STRONG = 20_000, 7
GREATEST_MAG = 9.1


@dataclass(frozen=True, slots=True)
class Region:
    """A region in which events are drawn."""

    name: str
    lat: float  # degrees north
    lon: float  # degrees east
    spread: float  # standard deviation of both, degrees
    depth: float  # on average, km


REGIONS = (
    Region("Ridgecrest, CA", 35.6, -117.6, 0.8, 8),
    Region("The Geysers, CA", 38.8, -122.8, 0.2, 3),
    Region("Pāhala, Hawaii", 19.2, -155.5, 0.4, 20),
    Region("Anchor Point, Alaska", 59.8, -152.0, 3.0, 60),
    Region("Hualien City, Taiwan", 24.0, 121.6, 1.0, 20),
    Region("Ōfunato, Japan", 39.0, 142.0, 2.5, 40),
    Region("Puerto Montt, Chile", -41.5, -73.0, 4.0, 30),
    Region("Port-Olry, Vanuatu", -15.0, 167.0, 3.0, 90),
    Region("Petrinja, Croatia", 45.4, 16.2, 0.6, 10),
    Region("Kaikōura, New Zealand", -42.4, 173.7, 1.5, 15),
    Region("Hihifo, Tonga", -15.9, -173.8, 4.0, 120),
    Region("Stanley, Idaho", 44.3, -115.1, 0.6, 9),
    Region("Pecos, Texas", 31.4, -103.5, 0.5, 6),
    Region("Elâzığ, Türkiye", 38.4, 39.1, 1.0, 10),
)
COMPASS = ("N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A catalogue, by the arguments that determine its bytes."""

    events: int = 1_000_000
    start: datetime = datetime(2015, 1, 1, tzinfo=UTC)
    days: int = 3653
    seed: int = 20150101

    def lines(self) -> Iterator[bytes]:
        """The file, line by line."""
        rng = random.Random(self.seed)  # noqa: S311 - reproducible on purpose
        first, span = int(self.start.timestamp() * 1000), self.days * DAY_MS
        offsets = sorted(rng.randrange(span) for _ in range(self.events))
        for number in range(self.events):
            if number and number % TIE_EVERY == 0:
                offsets[number] = offsets[number - 1]
            yield orjson.dumps(_feature(number, first + offsets[number], rng), option=orjson.OPT_APPEND_NEWLINE)


USUAL = Catalogue()


def event_id(number: int) -> str:
    """The id of the event on a line; the first line is 0."""
    return f"sy{number:08x}"


def _feature(number: int, time_ms: int, rng: random.Random) -> dict[str, object]:
    """Draw an event. The order of the draws is part of the format."""
    region = REGIONS[rng.randrange(len(REGIONS))]
    least = 6.0 if number % STRONG_EVERY == FIRST_STRONG else 0.5
    mag = min(GREATEST_MAG, least - math.log10(1.0 - rng.random()))
    lon = (region.lon + rng.gauss(0, region.spread) + 180.0) % 360.0 - 180.0
    return {
        "type": "Feature",
        "id": event_id(number),
        "properties": {
            "mag": round(mag, 2),
            "place": f"{rng.randrange(1, 180)} km {rng.choice(COMPASS)} of {region.name}",
            "time": time_ms,
            "updated": time_ms + 600_000,
            "tz": None,
            "url": f"https://example.org/eventpage/{event_id(number)}",
            "status": "reviewed",
            "tsunami": 0,
            "net": "sy",
            "code": f"{number:08x}",
            "magType": "ml",
            "type": "earthquake",
        },
        "geometry": {
            "type": "Point",
            "coordinates": [
                round(lon, 4),
                round(max(-89.9, min(89.9, region.lat + rng.gauss(0, region.spread))), 4),
                round(rng.expovariate(1 / region.depth), 2),
            ],
        },
    }


@click.command()
@click.option("--events", type=click.IntRange(min=1), default=USUAL.events, show_default=True)
@click.option("--start", type=click.DateTime(["%Y-%m-%d"]), default=f"{USUAL.start:%Y-%m-%d}", show_default=True)
@click.option("--days", type=click.IntRange(min=1), default=USUAL.days, show_default=True)
@click.option("--seed", type=int, default=USUAL.seed, show_default=True)
def main(events: int, start: datetime, days: int, seed: int) -> None:
    """Write the catalogue to standard output."""
    sys.stdout.buffer.writelines(Catalogue(events, start.replace(tzinfo=UTC), days, seed).lines())


if __name__ == "__main__":
    main()
