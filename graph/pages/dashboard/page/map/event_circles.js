// The circles of events in a drawing. They are kept from one drawing to the next, so that what has not changed is not
// made anew and an arrival shows its ring once.

import { magnitude, minute } from "../format.js";
import { svg } from "../plots/svg.js";

const RING_MS = 6000; // for how long an arrival is ringed

export class EventCircles {
  /**
   * @param {SVGSVGElement} drawing
   * @param {(eventId: string) => void} onSelect
   */
  constructor(drawing, onSelect) {
    this.drawn = svg("g");
    this.selection = svg("circle", { class: "selection", visibility: "hidden" });
    this.group = svg("g", { class: "events" }, this.drawn, this.selection);
    this.circles = new Map();
    this.selected = null;
    drawing.addEventListener("click", ({ target }) => target.dataset.eventId && onSelect(target.dataset.eventId));
    drawing.addEventListener("pointerover", ({ target }) => this.#explain(target));
  }

  /**
   * Draws these events and no others, the largest at the back.
   *
   * @param {import("../documents.js").QuakeEvent[]} events
   * @param {(event: import("../documents.js").QuakeEvent) => {x: number, y: number, r: number}} place
   * @param {import("../scales.js").Colouring} colouring
   */
  draw(events, place, colouring) {
    this.group.setAttribute("class", `events by-${colouring.name}`);
    const drawn = new Map();
    for (const event of [...events].sort((one, other) => other.mag - one.mag)) {
      const circle = this.circles.get(event.eventId)?.circle ?? svg("circle", { "data-event-id": event.eventId });
      const { x, y, r } = place(event);
      circle.setAttribute("cx", x.toFixed(1));
      circle.setAttribute("cy", y.toFixed(1));
      circle.setAttribute("r", r.toFixed(1));
      circle.setAttribute("class", colouring.of(event));
      drawn.set(event.eventId, { circle, event });
    }
    this.circles = drawn;
    this.drawn.replaceChildren(...[...drawn.values()].map(({ circle }) => circle));
    this.select(this.selected);
  }

  /** Marks one event, or none. */
  select(eventId) {
    this.selected = eventId;
    this.#around(this.selection, eventId);
  }

  /** Rings an arrival for a while. */
  ring(eventId) {
    const ring = svg("circle", { class: "arrival" });
    if (this.#around(ring, eventId)) {
      this.group.append(ring);
      setTimeout(() => ring.remove(), RING_MS);
    }
  }

  #around(mark, eventId) {
    const circle = this.circles.get(eventId)?.circle;
    if (circle) {
      mark.setAttribute("cx", circle.getAttribute("cx"));
      mark.setAttribute("cy", circle.getAttribute("cy"));
      mark.setAttribute("r", Number(circle.getAttribute("r")) + 4);
    }
    mark.setAttribute("visibility", circle ? "visible" : "hidden");
    return Boolean(circle);
  }

  #explain(target) {
    const event = this.circles.get(target.dataset.eventId)?.event;
    if (event && !target.firstChild) {
      target.append(svg("title", {}, `M ${magnitude(event.mag)}, ${event.place}, ${minute(event.eventTsMs)}`));
    }
  }
}
