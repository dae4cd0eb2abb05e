// The frame of an area on the map.

import { widthOf } from "./view_box.js";

const STEPS = 32; // along each side, which the globe bends

/** @param {{minLat: number, maxLat: number, minLon: number, maxLon: number}} box */
export function frameOf(box) {
  const [[west, south], [east, north]] = placesOf(box);
  const along = (from, to) => Array.from({ length: STEPS + 1 }, (_, at) => from + ((to - from) * at) / STEPS);
  const coordinates = [
    ...along(west, east).map((lon) => [lon, south]),
    ...along(south, north).map((lat) => [east, lat]),
    ...along(east, west).map((lon) => [lon, north]),
    ...along(north, south).map((lat) => [west, lat]),
  ];
  return { type: "Feature", properties: {}, geometry: { type: "LineString", coordinates } };
}

/** The south-western and the north-eastern corner, whose longitude may run on beyond 180. */
export const placesOf = (box) => [
  [box.minLon, box.minLat],
  [box.minLon + widthOf(box), box.maxLat],
];
