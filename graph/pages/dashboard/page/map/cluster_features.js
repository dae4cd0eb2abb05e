// The circles of areas: their sizes by how many events an area has, and the number in them.

import { point } from "./layers.js";

const LEAST_PX = 10; // a radius in which a number can be read
const MOST_PX = 27; // less than half an area
const ROUNDED = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 2 });

/**
 * One circle for each area: where most of its events are, rather than in its middle.
 *
 * @param {import("./view_query.js").Cell[]} cells
 * @param {number} cellDegrees  the width of a cell
 * @param {number} areaDegrees  the width of an area, which is a multiple of it
 */
export function clusterFeatures(cells, cellDegrees, areaDegrees) {
  const areas = new Map();
  for (const { lat, lon, count, greatest } of cells) {
    const name = `${Math.floor((lat + 90) / areaDegrees)} ${Math.floor((lon + 180) / areaDegrees)}`;
    const area = areas.get(name) ?? { lat: 0, lon: 0, count: 0, greatest };
    areas.set(name, {
      lat: area.lat + count * Math.min(90, lat + cellDegrees / 2),
      lon: area.lon + count * (lon + cellDegrees / 2),
      count: area.count + count,
      greatest: greatest === null ? null : Math.max(area.greatest, greatest),
    });
  }
  const most = Math.max(1, ...[...areas.values()].map(({ count }) => count));
  return [...areas.values()].map(({ lat, lon, count, greatest }) =>
    point(lon / count, lat / count, {
      count,
      greatest,
      label: count < 1000 ? String(count) : ROUNDED.format(count),
      r: Math.max(LEAST_PX, MOST_PX * Math.sqrt(count / most)),
    }),
  );
}
