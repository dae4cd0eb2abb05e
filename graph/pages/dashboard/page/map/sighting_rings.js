// The rings of sightings on the map: the fresher, the brighter and the wider. Each has a casing, which stands out from
// the ground also where the ring's own colour does not.

import { confidence, freshness } from "../sightings/confidence.js";
import { state, title } from "../sightings/sighting_words.js";
import { svg } from "../plots/svg.js";

const RADIUS = 7; // px, of the innermost ring
const STEP = 6; // px, between rings of one place
const MOST_RINGS = 4; // of one place; their number tells of the others
const NEAR_PX = 4; // sightings that are so close are at one place
const FAINTEST = 0.6; // opacity

export class SightingRings {
  /** @param {(sightingId: string) => void} onSelect */
  constructor(onSelect) {
    this.group = svg("g", { class: "sightings" });
    this.drawn = new Map(); // sightingId → {ring, circles, tip}
    this.group.addEventListener("click", ({ target }) => {
      const ring = target.closest("[data-sighting-id]");
      if (ring) {
        onSelect(ring.dataset.sightingId);
      }
    });
  }

  /**
   * Draws these sightings and no others; those of one place around each other, the most trusted innermost.
   *
   * @param {import("../documents.js").Sighting[]} sightings  each with a position
   * @param {number} now  epoch milliseconds
   * @param {(sighting: import("../documents.js").Sighting) => [number, number]} at  where it is, px
   */
  draw(sightings, now, at) {
    const mostTrusted = [...sightings].sort((one, other) => confidence(other, now) - confidence(one, now));
    const drawn = new Map();
    const numbers = [];
    for (const { x, y, members } of places(mostTrusted, at)) {
      const ringed = members.slice(0, MOST_RINGS);
      ringed.forEach((sighting, n) => {
        const parts = this.drawn.get(sighting.sightingId) ?? makeRing(sighting.sightingId);
        show(parts, sighting, now, { cx: x.toFixed(1), cy: y.toFixed(1), r: RADIUS + STEP * n });
        drawn.set(sighting.sightingId, parts);
      });
      if (members.length > 1) {
        const right = x + RADIUS + STEP * ringed.length;
        numbers.push(svg("text", { x: right.toFixed(1), y: (y + 4).toFixed(1) }, `×${members.length}`));
      }
    }
    this.drawn = drawn;
    this.group.replaceChildren(...[...drawn.values()].map(({ ring }) => ring), ...numbers);
  }
}

/** Gathers sightings by where they are drawn. */
function places(sightings, at) {
  const found = [];
  for (const sighting of sightings) {
    const [x, y] = at(sighting);
    const near = found.find((place) => Math.hypot(place.x - x, place.y - y) <= NEAR_PX);
    if (near) {
      near.members.push(sighting);
    } else {
      found.push({ x, y, members: [sighting] });
    }
  }
  return found;
}

function makeRing(sightingId) {
  const circles = [svg("circle", { class: "casing" }), svg("circle", { class: "ring" })];
  const tip = svg("title");
  return { ring: svg("g", { "data-sighting-id": sightingId }, ...circles, tip), circles, tip };
}

function show({ ring, circles, tip }, sighting, now, place) {
  const trusted = confidence(sighting, now);
  ring.setAttribute("class", freshness(trusted));
  ring.setAttribute("opacity", (FAINTEST + (1 - FAINTEST) * trusted).toFixed(2));
  for (const circle of circles) {
    Object.entries(place).forEach(([name, value]) => circle.setAttribute(name, value));
  }
  tip.textContent = `${title(sighting)}: ${state(sighting, now)}`;
}
