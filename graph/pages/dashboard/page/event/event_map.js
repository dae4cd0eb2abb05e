// A small map that shows where on earth an event was: land and borders around the epicentre, as an SVG, without WebGL.

import { json, script } from "../third_party.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 60; // degrees of latitude that it shows
const RATIO = 1.6; // of its width to its height
const LEAST_WIDTH = 0.35; // of a degree of longitude, in degrees of latitude: nearer to the poles, shapes are too wide

/**
 * @param {HTMLElement} figure
 * @param {{lat: number, lon: number, place: string}} event
 */
export async function eventMap(figure, event) {
  const [countries] = await Promise.all([json("countries-110m.json"), script("topojson-client.min.js")]);
  const { land, countries: borders } = countries.objects;
  figure.querySelector("svg").replaceWith(
    drawing(event, {
      land: lines(globalThis.topojson.feature(countries, land).features),
      borders: lines([{ geometry: globalThis.topojson.mesh(countries, borders, (one, other) => one !== other) }]),
    }),
  );
}

/** Degrees are the drawing's units. A degree of longitude is as wide as it is at the epicentre, so shapes there are true. */
function drawing({ lat, lon, place }, { land, borders }) {
  const width = Math.max(Math.cos((lat * Math.PI) / 180), LEAST_WIDTH);
  const middle = Math.min(Math.max(lat, HEIGHT / 2 - 90), 90 - HEIGHT / 2);
  const across = Math.min(HEIGHT * RATIO, 360 * width);
  const svg = made("svg", {
    viewBox: `${-across / 2} ${-middle - HEIGHT / 2} ${across} ${HEIGHT}`,
    role: "img",
    "aria-label": `Map of the land around ${place}`,
  });
  svg.append(made("rect", { class: "sea", x: -across / 2, y: -middle - HEIGHT / 2, width: across, height: HEIGHT }));
  for (const turn of [-360, 0, 360]) {
    const world = made("g", { transform: `scale(${width} 1) translate(${turn - lon} 0)` });
    world.append(made("path", { class: "land", d: land }), made("path", { class: "borders", d: borders }));
    svg.append(world);
  }
  svg.append(...[5, 3, 1].map((r) => made("circle", { class: r === 1 ? "epicentre" : "wave", r, cx: 0, cy: -lat })));
  return svg;
}

function made(name, attributes) {
  const element = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([attribute, value]) => element.setAttribute(attribute, value));
  return element;
}

/** GeoJSON's lines and the edges of its areas, as the data of an SVG path. */
function lines(features) {
  const parts = (coordinates) => (typeof coordinates[0][0] === "number" ? [coordinates] : coordinates.flatMap(parts));
  return features.flatMap(({ geometry }) => parts(geometry.coordinates)).map(line).join("");
}

/** A line that goes on across the dateline, where its longitudes jump. The edge of Antarctica jumps at the pole alone. */
function line(points) {
  let turn = 0;
  let before = points[0][0];
  const places = points.map(([lon, lat]) => {
    if (Math.abs(lon - before) > 180 && lat > -89) {
      turn += lon < before ? 360 : -360;
    }
    before = lon;
    return `${(lon + turn).toFixed(2)},${(-lat).toFixed(2)}`;
  });
  return `M${places.join("L")}`;
}
