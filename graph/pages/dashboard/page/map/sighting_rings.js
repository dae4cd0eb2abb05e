// The rings of sightings on the map: the fresher, the brighter and the wider. Each has a casing, which stands out from
// the ground also where the ring's own colour does not. Those of one place are around each other, the most trusted
// innermost.

import { confidence, freshness } from "../sightings/confidence.js";
import { state, title } from "../sightings/sighting_words.js";
import { svg } from "./svg.js";

const RADIUS = 7; // px, of the innermost ring
const STEP = 6; // px, between rings of one place
const MOST_RINGS = 4; // of one place; their number tells of the others
const NEAR_PX = 4; // sightings that are so close are at one place
const FAINTEST = 0.6; // opacity

/** Places rings by MapLibre's markers: elements that it moves with the map. */
export function sightingMarkers(maplibregl, map, onSelect) {
  let shown = { sightings: [], now: 0 };
  let markers = new Map(); // the ids of a place → {marker, rings}

  function draw() {
    const { sightings, now } = shown;
    const at = ({ position: { lat, lon } }) => map.project([lon, lat]);
    const mostTrusted = [...sightings].sort((one, other) => confidence(other, now) - confidence(one, now));
    const drawn = new Map();
    for (const members of places(mostTrusted, at)) {
      const ids = members.map(({ sightingId }) => sightingId).join(" ");
      const place = markers.get(ids) ?? placed(maplibregl, map, members, onSelect);
      place.rings.forEach((parts, n) => show(parts, members[n], now));
      drawn.set(ids, place);
    }
    for (const [ids, { marker }] of markers) {
      if (!drawn.has(ids)) {
        marker.remove();
      }
    }
    markers = drawn;
  }

  map.on("zoomend", draw);
  return {
    /**
     * Rings these sightings and no others, as they look at a time.
     *
     * @param {import("../documents.js").Sighting[]} sightings  each with a position
     * @param {number} now  epoch milliseconds
     */
    show(sightings, now) {
      shown = { sightings, now };
      draw();
    },
  };
}

/** Gathers sightings by where they are drawn. */
function places(sightings, at) {
  const found = [];
  for (const sighting of sightings) {
    const { x, y } = at(sighting);
    const near = found.find((place) => Math.hypot(place.x - x, place.y - y) <= NEAR_PX);
    if (near) {
      near.members.push(sighting);
    } else {
      found.push({ x, y, members: [sighting] });
    }
  }
  return found.map(({ members }) => members);
}

function placed(maplibregl, map, members, onSelect) {
  const ringed = members.slice(0, MOST_RINGS);
  const rings = ringed.map(({ sightingId }, n) => makeRing(sightingId, RADIUS + STEP * n));
  const size = 2 * (RADIUS + STEP * ringed.length);
  const half = size / 2;
  // The outermost first: a ring within another one can be clicked.
  const drawing = svg(
    "svg",
    { class: "sightings", viewBox: `${-half} ${-half} ${size} ${size}`, width: size, height: size },
    ...rings.map(({ ring }) => ring).reverse(),
  );
  if (members.length > 1) {
    drawing.append(svg("text", { x: half, y: 4 }, `×${members.length}`));
  }
  const element = document.createElement("div");
  element.className = "sightings-place";
  element.ariaHidden = "true"; // the list has them all
  element.append(drawing);
  element.addEventListener("click", (click) => {
    const ring = click.target.closest("[data-sighting-id]");
    if (ring) {
      click.stopPropagation(); // what lies beneath is not meant
      onSelect(ring.dataset.sightingId);
    }
  });
  const [{ position }] = members;
  const marker = new maplibregl.Marker({ element, opacityWhenCovered: "0" });
  marker.setLngLat([position.lon, position.lat]).addTo(map);
  return { marker, rings };
}

function makeRing(sightingId, r) {
  const circles = [svg("circle", { class: "casing", r }), svg("circle", { class: "ring", r })];
  const tip = svg("title");
  return { ring: svg("g", { "data-sighting-id": sightingId }, ...circles, tip), tip };
}

function show({ ring, tip }, sighting, now) {
  const trusted = confidence(sighting, now);
  ring.setAttribute("class", freshness(trusted));
  ring.setAttribute("opacity", (FAINTEST + (1 - FAINTEST) * trusted).toFixed(2));
  tip.textContent = `${title(sighting)}: ${state(sighting, now)}`;
}
