"""Where a sighting is: what is stored of a position, and what tells whether two reports are of the same place.

No exact position is stored. Reports of the same thing are told by a keyed hash of a tile of ten metres, which is
deleted after ten minutes, and whose key is not in the store.
"""

from dataclasses import dataclass
from hashlib import blake2b

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.areas import Circle
from graph.domains.sightings.areas import KnownAreas, NamedArea
from graph.domains.sightings.grid import KM1, KM10, M10, Point

SAME_KM = 0.03
MOST_TILES = 1000  # beside a pole they are narrow


@dataclass(frozen=True, slots=True)
class ReportedPlace:
    """Where a report is from."""

    area: NamedArea
    own: str  # of what tells this place from others
    alike: tuple[str, ...]  # of the places that count as the same
    cell: str | None = None  # of 10 km
    fine_cell: str | None = None  # of 1 km; only the answers of all its reporters together are stored with it
    rounded: Point | None = None


class Places:
    """Reads where reports are from."""

    def __init__(self, known: KnownAreas, secret: str) -> None:
        """Prepare to read.

        Args:
            secret: by which places are told apart, the same for all processes.
        """
        self._known = known
        self._key = blake2b(secret.encode(), person=b"sightings").digest()

    def read(self, area: str | None, lat: float | None, lon: float | None) -> ReportedPlace:
        """The place of a report.

        Raises:
            BadUserInput: It has neither an area nor a position, or an impossible one.
        """
        if (lat is None) is not (lon is None):
            raise BadUserInput("Give both `lat` and `lon`, or neither.")
        if lat is None or lon is None:
            if area is None:
                raise BadUserInput("Give an `area`, or `lat` and `lon`.")
            named = self._known.named(area)
            place = f"area:{named.slug}"
            return ReportedPlace(named, place, (place,))
        if not (-90 <= lat <= 90 and -180 <= lon <= 180):
            raise BadUserInput("`lat` must lie between -90 and 90, and `lon` between -180 and 180.")
        named = self._known.at(lat, lon) if area is None else self._known.named(area)
        tiles = [self._hash(tile) for tile in _tiles_near(lat, lon)]
        cell = KM10.cell(lat, lon)
        return ReportedPlace(named, tiles[0], tuple(tiles), cell, KM1.cell(lat, lon), KM10.centre(cell))

    def _hash(self, tile: str) -> str:
        return blake2b(tile.encode(), key=self._key, digest_size=20).hexdigest()


def _tiles_near(lat: float, lon: float) -> list[str]:
    """The tile of a position, and the others whose middle is within 30 m of its middle."""
    own = M10.cell(lat, lon)
    circle = Circle(*M10.centre(own), SAME_KM)
    around = M10.cells_around(circle, MOST_TILES) or []
    return [own, *(each for each in around if each != own and circle.holds(M10.centre(each)._asdict()))]
