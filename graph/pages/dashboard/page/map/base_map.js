// Land, coasts, borders and names of countries, of Natural Earth: the closer a person looks, the more detailed. A level
// is loaded when it is first needed, and the one before shows until then.

import { whenIdle } from "../idle.js";
import { json, script } from "../third_party.js";
import { collection, point } from "./layers.js";
import { labelPoint } from "./label_point.js";
import { closed, coasts, polygonsOf, unwound } from "./unwound.js";

const ABOVE = "plates"; // the layer over the land

/** From which zoom on a level shows, and how far its source is divided into tiles. */
const LEVELS = [
  { name: "110m", from: 0, maxzoom: 3 },
  { name: "50m", from: 2.5, maxzoom: 6 },
  { name: "10m", from: 5, maxzoom: 9 },
];

/** What a level has, from the bottom to the top. */
const PARTS = {
  land: { type: "fill", paint: { "fill-antialias": false }, property: "fill-color" },
  border: { type: "line", paint: { "line-width": 0.6 }, property: "line-color" },
  coast: { type: "line", paint: { "line-width": 0.8 }, property: "line-color" },
};
const LINES = Object.keys(PARTS).filter((part) => PARTS[part].type === "line");
const ENDLESS = 24; // beyond the greatest zoom
const LEAST = -2; // beneath the least

export class BaseMap {
  #shown = []; // levels that are there, in order
  #asked = new Set();

  /**
   * @param {object} map  of MapLibre, whose style is loaded
   * @param {() => Record<string, string>} colours
   * @param {(error: Error) => void} onFailure
   */
  constructor(map, colours, onFailure) {
    this.map = map;
    this.colours = colours;
    this.onFailure = onFailure;
    map.on("zoom", () => this.#load());
    this.#load();
  }

  /** The layers that are lines. */
  get lines() {
    return this.#shown.flatMap(({ name }) => LINES.map((part) => `${part}-${name}`));
  }

  recolour() {
    for (const { name } of this.#shown) {
      for (const [part, { property }] of Object.entries(PARTS)) {
        this.map.setPaintProperty(`${part}-${name}`, property, this.colours()[part]);
      }
    }
  }

  /** Loads the levels that the zoom needs: the first one always, so that something shows soon. */
  #load() {
    const needed = LEVELS.filter(({ from }, at) => at === 0 || from <= this.map.getZoom() + 0.01);
    for (const level of needed.filter(({ name }) => !this.#asked.has(name))) {
      this.#asked.add(level.name);
      this.#add(level).catch((error) => {
        this.#asked.delete(level.name);
        this.onFailure(error);
      });
    }
  }

  async #add(level) {
    const [topology] = await Promise.all([json(`countries-${level.name}.json`), script("topojson-client.min.js")]);
    await new Promise((resolve) => whenIdle(resolve));
    const { topojson } = globalThis;
    const { land, countries } = topology.objects;
    const polygons = polygonsOf(topojson.feature(topology, land).features);
    const borders = topojson.mesh(topology, countries, (one, other) => one !== other);
    const data = collection([
      feature("land", "MultiPolygon", polygons.map((rings) => rings.map(closed))),
      feature("coast", "MultiLineString", coasts(polygons.flat())),
      feature("border", "MultiLineString", borders.coordinates.map(unwound)),
    ]);
    // One source for all: each one that is drawn costs a mask for each of its tiles.
    this.map.addSource(level.name, { type: "geojson", data, maxzoom: level.maxzoom, buffer: 8, tolerance: 0.5 });
    for (const [part, { type, paint, property }] of Object.entries(PARTS)) {
      this.map.addLayer(
        {
          id: `${part}-${level.name}`,
          source: level.name,
          type,
          filter: ["==", ["get", "part"], part],
          paint: { ...paint, [property]: this.colours()[part] },
        },
        ABOVE,
      );
    }
    if (level.name !== "10m") {
      whenIdle(() => this.map.getSource("names").setData(names(topojson.feature(topology, countries))));
    }
    this.#shown = LEVELS.filter((each) => each === level || this.#shown.includes(each));
    this.#divide();
  }

  /** Gives each level that is there its range of zooms, up to that of the next. */
  #divide() {
    this.#shown.forEach(({ name, from }, at) => {
      const first = at ? from : LEAST;
      const end = this.#shown[at + 1]?.from ?? ENDLESS;
      Object.keys(PARTS).forEach((part) => this.map.setLayerZoomRange(`${part}-${name}`, first, end));
    });
  }
}

const feature = (part, type, coordinates) => ({
  type: "Feature",
  properties: { part },
  geometry: { type, coordinates },
});

/** The names of countries, each in the middle of its largest part; `size` is the root of that part's area, degrees. */
function names({ features }) {
  return collection(
    features.map((country) => {
      const { lon, lat, area } = labelPoint(polygonsOf([country]));
      return point(lon, lat, { name: country.properties.name, size: Math.sqrt(area) });
    }),
  );
}
