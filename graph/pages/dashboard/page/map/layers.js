// The style of the map: its sources, which begin empty, and its layers from the sea at the bottom to the selection.

import { radius } from "../scales.js";

const FONT = ["sans-serif"]; // drawn by the browser, so no file of glyphs is loaded
export const LEAST_RADIUS = 3; // px: smaller circles are hard to see, and harder to touch
const SELECTION_GAP = 4; // px between a circle and what marks it
const NOTHING = { type: "FeatureCollection", features: [] };

/** What a circle's size is multiplied with on a map of that width, px. */
export const sizeFactor = (width) => Math.min(1, Math.max(0.6, width / 1000));

/** The radius of an event's circle, px. */
export const circleRadius = (mag, factor) => Math.max(LEAST_RADIUS, factor * radius(mag));

/** A collection of features. */
export const collection = (features) => ({ type: "FeatureCollection", features });

/** A feature at a point. */
export const point = (lon, lat, properties) => ({
  type: "Feature",
  geometry: { type: "Point", coordinates: [lon, lat] },
  properties,
});

/** @param {"globe" | "mercator"} projection */
export function mapStyle(projection, colours) {
  const source = (others = {}) => ({ type: "geojson", data: NOTHING, ...others });
  return {
    version: 8,
    transition: { duration: 0 }, // what is left out of a moving map goes and comes at once
    projection: { type: projection },
    sources: {
      names: source({ maxzoom: 6 }),
      plates: source({ maxzoom: 6, buffer: 8 }),
      area: source({ maxzoom: 8 }),
      clusters: source({ maxzoom: 10, buffer: 64 }),
      events: source({ maxzoom: 10, buffer: 64 }),
      selected: source({ maxzoom: 10 }),
    },
    layers: [
      { id: "sea", type: "background" },
      { id: "plates", type: "line", source: "plates", layout: { "line-join": "round" } },
      {
        id: "names",
        type: "symbol",
        source: "names",
        layout: {
          "text-field": ["get", "name"],
          "text-font": FONT,
          "text-size": ["interpolate", ["linear"], ["zoom"], 1, 10, 6, 14],
          "text-max-width": 7,
          "text-letter-spacing": 0.05,
          "text-padding": 6,
          "symbol-sort-key": ["-", ["get", "size"]],
        },
        filter: [">=", ["get", "size"], ["step", ["zoom"], 12, 2, 5, 3, 2, 4, 0.7, 5, 0]],
      },
      { id: "area", type: "line", source: "area", layout: { "line-join": "miter", visibility: "none" } },
      { id: "clusters", type: "circle", source: "clusters", paint: { "circle-radius": ["get", "r"] } },
      { id: "events", type: "circle", source: "events" },
      {
        id: "cluster-counts",
        type: "symbol",
        source: "clusters",
        layout: {
          "text-field": ["get", "label"],
          "text-font": FONT,
          "text-size": 11,
          "text-allow-overlap": true,
          "text-ignore-placement": true,
        },
      },
      { id: "selected", type: "circle", source: "selected", paint: { "circle-opacity": 0, "circle-stroke-width": 3 } },
    ].map((layer) => ({ ...layer, paint: { ...layer.paint, ...paint(layer.id, colours) } })),
  };
}

/** The paint of a layer that comes from CSS. */
function paint(layer, colours) {
  return {
    sea: { "background-color": colours.sea },
    plates: { "line-color": colours.plate, "line-width": ["interpolate", ["linear"], ["zoom"], 0, 0.7, 6, 1.6] },
    names: { "text-color": colours.label, "text-halo-color": colours.halo, "text-halo-width": 1 },
    area: { "line-color": colours.area, "line-width": 2, "line-dasharray": [3, 2] },
    clusters: { "circle-color": colours.cluster, "circle-stroke-color": colours.halo, "circle-stroke-width": 1 },
    "cluster-counts": {
      "text-color": colours["cluster-text"],
      "text-halo-color": colours.cluster,
      "text-halo-width": 1.5,
    },
    selected: { "circle-stroke-color": colours.mark },
  }[layer];
}

/** Paints the layers in the colours of CSS. */
export function recolour(map, colours) {
  for (const { id } of map.getStyle().layers) {
    for (const [property, value] of Object.entries(paint(id, colours) ?? {})) {
      map.setPaintProperty(id, property, value);
    }
  }
}

/** Paints the circles by the classes of a colouring; what has no colour is hollow. */
export function colourEvents(map, colours, { name, classes }) {
  const colour = [
    "match",
    ["get", "class"],
    ...classes.flatMap(({ name: className }) => {
      const number = className.match(/^c(\d)$/)?.[1];
      return number ? [className, colours[`${name}-${number}`]] : [];
    }),
    colours.faint,
  ];
  map.setPaintProperty("events", "circle-color", colour);
  map.setPaintProperty("events", "circle-stroke-color", colour);
  map.setPaintProperty("events", "circle-stroke-width", 1);
  map.setPaintProperty("events", "circle-opacity", ["match", ["get", "class"], "unknown", 0, 0.45]);
}

/** Sizes the circles for a map of that width, px. */
export function sizeEvents(map, width) {
  const size = ["max", LEAST_RADIUS, ["*", sizeFactor(width), ["get", "r"]]];
  map.setPaintProperty("events", "circle-radius", size);
  map.setPaintProperty("selected", "circle-radius", ["+", SELECTION_GAP, size]);
}
