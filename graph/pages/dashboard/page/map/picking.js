// Which circle is meant by a place on the map: of those whose middle is as near as the pointer is wide, the largest one;
// else of those that the pointer is on, the nearest.

const FINGER_PX = 22;
const MOUSE_PX = 6;
const TWO_SIDES = ["events", "clusters"];

/** How far a pointer reaches, px. */
export function reachOf({ pointerType }) {
  const isMouse = pointerType ? pointerType === "mouse" : !matchMedia("(pointer: coarse)").matches;
  return isMouse ? MOUSE_PX : FINGER_PX;
}

/**
 * The feature that is meant, and where on the map it is drawn; null if there is none. Events go before clusters.
 *
 * @param {object} map  of MapLibre
 * @param {{x: number, y: number}} at  px
 * @param {number} reach  px
 */
export function pick(map, at, reach) {
  const corners = [
    [at.x - reach, at.y - reach],
    [at.x + reach, at.y + reach],
  ];
  const found = map.queryRenderedFeatures(corners, { layers: TWO_SIDES });
  for (const layer of TWO_SIDES) {
    const near = found
      .filter((feature) => feature.layer.id === layer)
      .map((feature) => {
        const place = placeOf(map, feature, at);
        return { feature, place, distance: Math.hypot(place.x - at.x, place.y - at.y) };
      });
    const within = near.filter(({ distance }) => distance <= reach);
    const best = within.length
      ? within.sort((one, other) => sizeOf(other) - sizeOf(one) || one.distance - other.distance)[0]
      : near.sort((one, other) => one.distance - other.distance)[0];
    if (best) {
      return best;
    }
  }
  return null;
}

const sizeOf = ({ feature: { properties } }) => properties.mag ?? properties.count;

/** Where a feature is drawn nearest to a place: the world may be there more than once. */
function placeOf(map, { geometry: { coordinates } }, at) {
  const [lon, lat] = coordinates;
  const turns = Math.round((map.unproject([at.x, at.y]).lng - lon) / 360);
  return map.project([lon + 360 * turns, lat]);
}
