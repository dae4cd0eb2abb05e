// The Equal Earth projection: areas are true, so that regions can be compared by how many events they have.
// Source: Šavrič, Patterson and Jenny (2019), Int. J. Geogr. Inf. Sci. 33, 454-465.

const A = [1.340264, -0.081106, 0.000893, 0.003796];
const ROOT = Math.sqrt(3) / 2;
const RADIANS = Math.PI / 180;

/** The map's edge, °E: the coastline is cut there, and its longitudes run on from it. */
export const WEST = -30;
const CENTRE = WEST + 180;

/** The extent of the projected world, whose middle is 0, 0. */
export const WORLD = { width: 2 * project(CENTRE + 180, 0)[0], height: 2 * project(CENTRE, 90)[1] };

/**
 * Where a point of the map comes to lie: x eastwards, y northwards, in radii of the globe.
 *
 * @param {number} lon  degrees east, from the map's edge to a turn beyond
 * @param {number} lat  degrees north
 */
export function project(lon, lat) {
  const theta = Math.asin(ROOT * Math.sin(lat * RADIANS));
  const squared = theta * theta;
  const sixth = squared ** 3;
  const slope = A[0] + 3 * A[1] * squared + sixth * (7 * A[2] + 9 * A[3] * squared);
  return [
    ((lon - CENTRE) * RADIANS * Math.cos(theta)) / (ROOT * slope),
    theta * (A[0] + A[1] * squared + sixth * (A[2] + A[3] * squared)),
  ];
}

/** A longitude as the map counts them. */
export function fromEdge(lon) {
  return WEST + ((((lon - WEST) % 360) + 360) % 360);
}
