// The map: events as circles, sized by magnitude and coloured by age or depth, over the world's land, and what people
// report as rings.

import { EventCircles } from "./event_circles.js";
import { counted, magnitude } from "../format.js";
import { element } from "../html.js";
import { fromEdge, project, WEST, WORLD } from "./projection.js";
import { radius } from "../scales.js";
import { SightingRings } from "./sighting_rings.js";
import { onSize, svg } from "../plots/svg.js";

const MARGIN = 2; // px around the world
const WIDE = 1000; // px, from which on circles have their full size
const SIZES = [2, 4, 6]; // magnitudes that the legend shows

/**
 * @param {HTMLElement} figure
 * @param {(eventId: string) => void} onSelect
 * @param {(sightingId: string) => void} onSelectSighting
 */
export function worldMap(figure, onSelect, onSelectSighting) {
  const drawing = figure.querySelector("svg");
  const circles = new EventCircles(drawing, onSelect);
  const sightingRings = new SightingRings(onSelectSighting);
  const sea = svg("path", { class: "sea" });
  const land = svg("path", { class: "land", "fill-rule": "evenodd" });
  const grid = svg("path", { class: "grid" });
  drawing.append(sea, land, grid, circles.group, sightingRings.group);

  let rings = [];
  let shown = { events: [], colouring: null };
  let reported = { sightings: [], now: 0 };
  let scale = 0; // px a radius of the globe
  let middle = [0, 0];

  const at = (lon, lat) => {
    const [x, y] = project(lon, lat);
    return [middle[0] + scale * x, middle[1] - scale * y];
  };
  const sizeFactor = () => Math.min(1, Math.max(0.6, (scale * WORLD.width) / WIDE));

  function drawWorld() {
    sea.setAttribute("d", path([outline()], at));
    grid.setAttribute("d", graticule(at));
    land.setAttribute("d", path(rings, at));
  }

  function drawEvents() {
    if (!shown.colouring || !scale) {
      return;
    }
    const factor = sizeFactor();
    circles.draw(
      shown.events,
      (event) => {
        const [x, y] = at(fromEdge(event.lon), event.lat);
        return { x, y, r: factor * radius(event.mag) };
      },
      shown.colouring,
    );
    drawLegends(figure.querySelector(".legends"), shown.colouring, factor);
  }

  function drawSightings() {
    if (scale) {
      const { sightings, now } = reported;
      sightingRings.draw(sightings, now, ({ position: { lat, lon } }) => at(fromEdge(lon), lat));
    }
  }

  function describe() {
    if (shown.colouring) {
      figure.querySelector("figcaption").textContent = caption(shown.events, reported.sightings);
    }
  }

  onSize(
    drawing,
    (width) => ((width - 2 * MARGIN) * WORLD.height) / WORLD.width + 2 * MARGIN,
    (width, height) => {
      scale = (width - 2 * MARGIN) / WORLD.width;
      middle = [width / 2, height / 2];
      drawWorld();
      drawEvents();
      drawSightings();
    },
  );

  return {
    /** Draws the land, once it is there: rings in tenths of a degree, cut at the map's edge. */
    showLand(coastline) {
      rings = coastline.map((ring) => pairs(ring).map(([lon, lat]) => [lon / 10, lat / 10]));
      drawWorld();
    },
    show(events, colouring) {
      shown = { events, colouring };
      describe();
      drawEvents();
    },
    /** Rings the sightings that have a position, as they look at a time, epoch milliseconds. */
    showSightings(sightings, now) {
      const before = reported.sightings.length;
      reported = { sightings: sightings.filter(({ position }) => position), now };
      if (reported.sightings.length !== before) {
        describe();
        figure.querySelector(".sightings-legend").hidden = !reported.sightings.length;
      }
      drawSightings();
    },
    select: (eventId) => circles.select(eventId),
    ring: (eventId) => circles.ring(eventId),
  };
}

/** What the map shows, in words. */
function caption(events, sightings) {
  const ringed = sightings.length ? ` ${counted(sightings.length, "report")} by people as rings.` : "";
  if (!events.length) {
    return `No event to show.${ringed}`;
  }
  const largest = events.reduce((one, other) => (other.mag > one.mag ? other : one));
  return `${counted(events.length, "event")}; the largest of magnitude ${magnitude(largest.mag)}, ${largest.place}.${ringed}`;
}

function path(rings, at) {
  return rings.map((ring) => `M${ring.map(([lon, lat]) => at(lon, lat).map((px) => px.toFixed(1))).join("L")}Z`).join("");
}

/** The edge of the world: up the eastern side of the map, and down the western one. */
function outline() {
  const up = Array.from({ length: 61 }, (_, step) => [WEST + 360, -90 + 3 * step]);
  return [...up, ...up.map(([lon, lat]) => [lon - 360, -lat])];
}

/** Every 30 degrees; the parallels of this projection are straight. */
function graticule(at) {
  const line = (points) => `M${points.map(([lon, lat]) => at(lon, lat).map((px) => px.toFixed(1))).join("L")}`;
  const parallels = [-60, -30, 0, 30, 60].map((lat) => line([[WEST, lat], [WEST + 360, lat]]));
  const meridians = Array.from({ length: 11 }, (_, n) =>
    line(Array.from({ length: 37 }, (_, step) => [WEST + 30 * (n + 1), -90 + 5 * step])),
  );
  return [...parallels, ...meridians].join("");
}

function pairs(flat) {
  return Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n], flat[2 * n + 1]]);
}

function drawLegends(place, colouring, factor) {
  const swatch = (className, r) =>
    svg(
      "svg",
      { viewBox: `${-r - 1} ${-r - 1} ${2 * r + 2} ${2 * r + 2}`, width: 2 * r + 2, "aria-hidden": "true" },
      svg("circle", { class: className, r }),
    );
  place.replaceChildren(
    legend(
      colouring.title,
      colouring.classes.map(({ name, label }) => [swatch(name, 6), label]),
      `by-${colouring.name}`,
    ),
    legend(
      "Magnitude",
      SIZES.map((mag) => [swatch("size", factor * radius(mag)), String(mag)]),
    ),
  );
}

function legend(title, entries, className = "") {
  const list = element("ul", "", `legend ${className}`);
  list.ariaLabel = title;
  const heading = element("li", title, "title");
  heading.ariaHidden = "true"; // the list has it as its name
  list.append(heading);
  for (const [swatch, label] of entries) {
    const item = element("li");
    item.append(swatch, ` ${label}`);
    list.append(item);
  }
  return list;
}
