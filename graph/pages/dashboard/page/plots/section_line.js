// Along which line the earth is cut open: the longitudes or the latitudes of the events, whichever span more.

const DEGREE = Math.PI / 180;

/**
 * Longitudes that run on from the west of the widest gap between events, so that those around the dateline stay together.
 *
 * @param {number[]} lons  degrees east, −180 to 180
 * @returns {(lon: number) => number}  degrees east, up to 540
 */
export function unwrapped(lons) {
  const sorted = [...new Set(lons)].sort((one, other) => one - other);
  let [west, widest] = [sorted[0] ?? -180, sorted.length ? sorted[0] + 360 - sorted.at(-1) : 0];
  sorted.forEach((lon, at) => {
    if (at && lon - sorted[at - 1] > widest) {
      [west, widest] = [lon, lon - sorted[at - 1]];
    }
  });
  return (lon) => (lon < west ? lon + 360 : lon);
}

/** Whether events span more kilometres from west to east than from south to north. */
export function isWide(events) {
  const lats = events.map(({ lat }) => lat);
  const lons = events.map(({ lon }) => lon);
  const around = unwrapped(lons);
  const [south, north] = [Math.min(...lats), Math.max(...lats)];
  const along = lons.map(around);
  const width = (Math.max(...along) - Math.min(...along)) * Math.cos(((south + north) / 2) * DEGREE);
  return width >= north - south;
}

/** 170° W */
export function longitude(value) {
  const lon = ((((value + 180) % 360) + 360) % 360) - 180;
  return lon === 0 || lon === -180 ? `${Math.abs(lon)}°` : `${Math.abs(lon)}° ${lon < 0 ? "W" : "E"}`;
}

/** 20° S */
export const latitude = (lat) => (lat === 0 ? "0°" : `${Math.abs(lat)}° ${lat < 0 ? "S" : "N"}`);
