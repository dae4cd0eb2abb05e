// Lines across the dateline: their longitudes run on beyond ±180, so that they never jump.

const EDGE = 179.99; // degrees; along it and along the south pole, some land is cut and has no coast
const POLE = -89.9;

/** A line or ring of places, unwound. */
export function unwound(line) {
  let [before] = line[0];
  let turns = 0;
  return line.map(([lon, lat]) => {
    turns -= Math.round((lon - before) / 360);
    before = lon;
    return [lon + 360 * turns, lat];
  });
}

/** The polygons of features, each its outer ring and its holes, unwound. */
export const polygonsOf = (features) =>
  features
    .flatMap(({ geometry: { type, coordinates } }) => (type === "Polygon" ? [coordinates] : coordinates))
    .map((rings) => rings.map(unwound));

/** A ring as an area: one that goes around the pole, as Antarctica's, is closed through it. */
export function closed(ring) {
  const [[first]] = ring;
  const [last] = ring.at(-1);
  return Math.abs(last - first) > 180 ? [...ring, [last, -90], [first, -90], ring[0]] : ring;
}

/** The parts of rings where land meets the sea: without the lines along which the land was cut. */
export function coasts(rings) {
  const isCut = ([lon, lat], [nextLon, nextLat]) =>
    (Math.abs(lon) > EDGE && Math.abs(lon) <= 180 && lon === nextLon) || (lat < POLE && nextLat < POLE);
  const lines = [];
  for (const ring of rings) {
    let part = [ring[0]];
    for (let at = 1; at < ring.length; at++) {
      if (isCut(ring[at - 1], ring[at])) {
        lines.push(part);
        part = [];
      }
      part.push(ring[at]);
    }
    lines.push(part);
  }
  return lines.filter(({ length }) => length > 1);
}
