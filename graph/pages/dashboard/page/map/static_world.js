// A still picture of the world for browsers without WebGL: land, and the largest events on it.

import { json, script } from "../third_party.js";
import { circleRadius } from "./layers.js";
import { svg } from "./svg.js";
import { closed, polygonsOf } from "./unwound.js";

const MOST = 200; // events, the largest
const FACTOR = 0.5; // of the circles' sizes: a picture is small
const WEST = -30; // its edge, °E, in the Atlantic
const across = (lon) => (((lon - WEST) % 360) + 360) % 360;

export class StaticWorld {
  #selected = null;

  /**
   * @param {HTMLElement} frame
   * @param {(eventId: string, place: {x: number, y: number}) => void} onSelect
   */
  constructor(frame, onSelect) {
    this.land = svg("g", { class: "still-land" });
    this.circles = svg("g");
    frame.append(svg("svg", { class: "still", viewBox: "0 0 360 180", "aria-hidden": "true" }, this.land, this.circles));
    this.circles.addEventListener("click", ({ target, clientX: x, clientY: y }) => {
      if (target.dataset.eventId) {
        onSelect(target.dataset.eventId, { x, y });
      }
    });
  }

  /** Draws the land thrice: what lies beyond one edge of the picture begins at the other. */
  async showLand() {
    const [topology] = await Promise.all([json("countries-110m.json"), script("topojson-client.min.js")]);
    const { features } = globalThis.topojson.feature(topology, topology.objects.land);
    const rings = polygonsOf(features).flat().map(closed);
    const place = ([lon, lat]) => `${(lon - WEST).toFixed(1)} ${(90 - lat).toFixed(1)}`;
    const d = rings.map((ring) => `M${ring.map(place).join("L")}Z`).join("");
    const turns = [-360, 0, 360].map((x) => svg("path", { d, transform: `translate(${x})`, "fill-rule": "evenodd" }));
    this.land.replaceChildren(...turns);
  }

  showEvents(events, colouring) {
    const largest = [...events].sort((one, other) => other.mag - one.mag).slice(0, MOST);
    this.circles.setAttribute("class", `by-${colouring.name}`);
    this.circles.replaceChildren(
      ...largest.map((event) =>
        svg("circle", {
          "data-event-id": event.eventId,
          class: colouring.of(event),
          cx: across(event.lon).toFixed(2),
          cy: (90 - event.lat).toFixed(2),
          r: (FACTOR * circleRadius(event.mag, FACTOR)).toFixed(2),
        }),
      ),
    );
    this.select(this.#selected);
    return largest.length;
  }

  select(eventId) {
    this.#selected = eventId;
    for (const circle of this.circles.children) {
      circle.classList.toggle("selected", circle.dataset.eventId === eventId);
    }
  }
}
