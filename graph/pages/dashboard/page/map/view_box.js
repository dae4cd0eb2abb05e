// The areas of views, as the graph's BoxInput: between latitudes and longitudes, the west of which may lie east of its east.

const COARSEST = 20; // degrees of an area; the others are halves of halves of it, so that they lie in each other
const FINEST = 0.01; // degrees of a cell
const AREA_PX = 64;
const CELLS_ACROSS = 4; // of an area, by which it is known where in it its events are
const TILE_PX = 512; // the width of the world at zoom 0

/** The width of the areas whose events are counted together at a zoom, degrees. */
export function areaDegrees(zoom) {
  const degrees = (AREA_PX * 360) / (TILE_PX * 2 ** zoom);
  return Math.max(FINEST * CELLS_ACROSS, COARSEST / 2 ** Math.max(0, Math.floor(Math.log2(COARSEST / degrees))));
}

/** The width of the cells that the service counts by, degrees. */
export const cellDegrees = (ofAreas) => ofAreas / CELLS_ACROSS;

/**
 * The whole areas that a view touches; null for all of the world, as for each view by the coarsest areas: most of the
 * world is in it.
 *
 * @param {{west: number, south: number, east: number, north: number}} bounds  longitudes run on beyond ±180
 */
export function boxOfAreas({ west, south, east, north }, degrees) {
  if (degrees === COARSEST) {
    return null;
  }
  const down = (value, least) => Math.floor((value - least) / degrees) * degrees + least;
  const up = (value, least) => Math.ceil((value - least) / degrees) * degrees + least;
  const minLat = Math.max(-90, down(south, -90));
  const maxLat = Math.min(90, up(north, -90));
  const [from, to] = [down(west, -180), up(east, -180)];
  if (to - from >= 360) {
    return minLat === -90 && maxLat === 90 ? null : { minLat, maxLat, minLon: -180, maxLon: 180 };
  }
  return { minLat, maxLat, minLon: wrapped(from), maxLon: -wrapped(-to) };
}

/** Whether a box holds all of another one; null is the world. */
export function holds(box, other) {
  if (!box || !other) {
    return !box;
  }
  const east = (lon) => (lon - box.minLon + 360) % 360; // degrees east of its west
  const width = widthOf(box);
  return (
    box.minLat <= other.minLat &&
    box.maxLat >= other.maxLat &&
    (width >= 360 || (east(other.minLon) + widthOf(other) <= width + 1e-9))
  );
}

/**
 * What two boxes have in common, or more where that would be two boxes: then the narrower of them. Null is the world;
 * undefined, that they have nothing in common.
 */
export function common(box, other) {
  if (!box || !other) {
    return box ?? other;
  }
  const minLat = Math.max(box.minLat, other.minLat);
  const maxLat = Math.min(box.maxLat, other.maxLat);
  if (minLat > maxLat) {
    return undefined;
  }
  const [wide, narrow] = widthOf(box) >= widthOf(other) ? [box, other] : [other, box];
  const width = widthOf(wide);
  const from = (narrow.minLon - wide.minLon + 360) % 360;
  const to = from + widthOf(narrow);
  if (width >= 360 || to <= width || (from <= width && to >= 360)) {
    return { minLat, maxLat, minLon: narrow.minLon, maxLon: narrow.maxLon };
  }
  if (from <= width) {
    return { minLat, maxLat, minLon: narrow.minLon, maxLon: wide.maxLon };
  }
  return to >= 360 ? { minLat, maxLat, minLon: wide.minLon, maxLon: narrow.maxLon } : undefined;
}

/** Whether a place lies in a box. */
export const lies = ({ lat, lon }, box) => holds(box, { minLat: lat, maxLat: lat, minLon: lon, maxLon: lon });

export const widthOf = ({ minLon, maxLon }) => (maxLon < minLon ? maxLon - minLon + 360 : maxLon - minLon);

/** The bounds of a view as an area to search: within the world, and its west and east within a turn. */
export function areaOf({ south, north, west, east }) {
  const rounded = (value) => Math.round(value * 100) / 100;
  const isWorld = east - west >= 360;
  return {
    south: rounded(Math.max(-90, south)),
    north: rounded(Math.min(90, north)),
    west: isWorld ? -180 : rounded(wrapped(west)),
    east: isWorld ? 180 : rounded(wrapped(east)),
  };
}

/** A longitude from -180 on, below 180. */
const wrapped = (lon) => ((((lon + 180) % 360) + 360) % 360) - 180;
