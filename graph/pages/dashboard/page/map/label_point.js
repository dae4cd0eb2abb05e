// Where the name of a country stands: within its largest part, far from that part's edges.

const STEPS = 12; // in each direction, of the places that are tried

/**
 * @param {number[][][][]} polygons  each its outer ring and its holes, degrees
 * @returns {{lon: number, lat: number, area: number}} area in square degrees, as wide as they are there
 */
export function labelPoint(polygons) {
  const [largest] = polygons
    .map(([ring]) => ({ ring, area: Math.abs(signedArea(ring)) }))
    .sort((one, other) => other.area - one.area);
  const { ring, area } = largest;
  const [west, east] = extent(ring, 0);
  const [south, north] = extent(ring, 1);
  let best = { lon: (west + east) / 2, lat: (south + north) / 2, distance: -1 };
  for (let row = 1; row < STEPS; row++) {
    for (let column = 1; column < STEPS; column++) {
      const lon = west + ((east - west) * column) / STEPS;
      const lat = south + ((north - south) * row) / STEPS;
      const distance = distanceWithin(ring, lon, lat);
      if (distance > best.distance) {
        best = { lon, lat, distance };
      }
    }
  }
  return { lon: best.lon, lat: best.lat, area };
}

function signedArea(ring) {
  let sum = 0;
  for (let at = 1; at < ring.length; at++) {
    const [lon, lat] = ring[at - 1];
    const [nextLon, nextLat] = ring[at];
    sum += (nextLon - lon) * (lat + nextLat) * 0.5 * Math.cos((lat * Math.PI) / 180);
  }
  return sum;
}

function extent(ring, axis) {
  return ring.reduce(
    ([least, most], { [axis]: value }) => [Math.min(least, value), Math.max(most, value)],
    [Infinity, -Infinity],
  );
}

/** How far a place within the ring is from its nearest corner, squared; -1 outside. Names are wider than high. */
function distanceWithin(ring, lon, lat) {
  let isInside = false;
  let nearest = Infinity;
  for (let at = 1; at < ring.length; at++) {
    const [x, y] = ring[at - 1];
    const [nextX, nextY] = ring[at];
    if (y > lat !== nextY > lat && lon < x + ((nextX - x) * (lat - y)) / (nextY - y)) {
      isInside = !isInside;
    }
    nearest = Math.min(nearest, ((x - lon) / 2) ** 2 + (y - lat) ** 2);
  }
  return isInside ? nearest : -1;
}
