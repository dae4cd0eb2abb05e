// Events as circles in a plot: sized and coloured as on the map, the largest at the back, one of them selected.

import { magnitude, minute } from "../format.js";
import { element } from "../html.js";
import { radius } from "../scales.js";
import { point, reach } from "./pointing.js";
import { tipOver } from "./tip.js";

const LEAST_RADIUS = 2; // px
const SIZE = 0.6; // of a circle on a wide map
const RING_MS = 6000; // for how long an arrival is ringed
const OPACITY = 0.45;

const size = (mag) => Math.max(LEAST_RADIUS, SIZE * radius(mag));

/** What a tip says of an event. */
const words = ({ mag, place, eventTsMs }) => `M ${magnitude(mag)}, ${place}, ${minute(eventTsMs)}`;

/**
 * @param {HTMLElement} figure
 * @param {import("./plot.js").Plot} plot
 * @param {{order: string, onSelect: Function, onRange?: Function}} options  `order` names what the events are in order of
 */
export function eventCircles(figure, plot, { order, onSelect, onRange = null }) {
  const slider = sliderOf(figure, order);
  const selection = element("i", "", "selection");
  const marks = new Map(); // elements around circles → the ids of their events
  let events = []; // as the columns of the plot
  let largestFirst = []; // their places among the events
  let colouring = null;
  let tip = null;

  /** Where a circle is, CSS px within the plot's area; null for what is beyond its axes. */
  function at(index) {
    const { drawn } = plot;
    const [xs, ys] = drawn.data;
    const [x, y] = [drawn.valToPos(xs[index], "x"), drawn.valToPos(ys[index], "y")];
    const width = drawn.bbox.width / devicePixelRatio; // to ask an element would lay out the page for each event
    return x >= 0 && x <= width ? { x, y } : null;
  }

  /** The largest event within reach of a place, the nearest one of equals; −1 if there is none. */
  function find({ x, y }, reached) {
    for (let first = 0; first < largestFirst.length; ) {
      const { mag } = events[largestFirst[first]];
      let [nearest, least] = [-1, Infinity];
      for (; first < largestFirst.length && events[largestFirst[first]].mag === mag; first++) {
        const center = at(largestFirst[first]);
        const distance = center ? Math.hypot(center.x - x, center.y - y) : Infinity;
        if (distance <= Math.max(reached, size(mag)) && distance < least) {
          [nearest, least] = [largestFirst[first], distance];
        }
      }
      if (nearest >= 0) {
        return nearest;
      }
    }
    return -1;
  }

  function explain(index) {
    const center = index >= 0 && at(index);
    if (center) {
      tip.show(words(events[index]), center.x, center.y, size(events[index].mag) + 6);
    } else {
      tip.hide();
    }
    plot.drawn.over.classList.toggle("on-event", Boolean(center));
  }

  function choose(index) {
    const center = at(index);
    const area = plot.drawn.over.getBoundingClientRect();
    onSelect(events[index].eventId, { x: area.left + center.x, y: area.top + center.y });
  }

  /** Puts each mark around its event's circle. */
  function place() {
    for (const [mark, eventId] of plot.drawn ? marks : []) {
      const index = events.findIndex((event) => event.eventId === eventId);
      const center = index >= 0 ? at(index) : null;
      mark.hidden = !center;
      if (center) {
        const r = size(events[index].mag) + 4;
        mark.style.left = `${center.x - r}px`;
        mark.style.top = `${center.y - r}px`;
        mark.style.width = mark.style.height = `${2 * r}px`;
        plot.drawn.over.append(mark);
      }
    }
  }

  function begin(drawn) {
    tip = tipOver(drawn.over);
    point(drawn, {
      onHover: (pointed, event) => explain(find(pointed, reach(event))),
      onLeave: () => explain(-1),
      onChoose: (pointed, event) => {
        const index = find(pointed, reach(event));
        if (index >= 0) {
          choose(index);
        }
      },
      onDrag: onRange && ((from, to) => onRange({ from: drawn.posToVal(from, "x"), to: drawn.posToVal(to, "x") })),
    });
    slider.addEventListener("input", () => explain(slider.valueAsNumber));
    slider.addEventListener("focus", () => explain(slider.valueAsNumber));
    slider.addEventListener("blur", () => explain(-1));
    slider.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && at(slider.valueAsNumber)) {
        choose(slider.valueAsNumber);
      }
    });
  }

  function draw(drawn) {
    const { ctx } = drawn;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.translate(drawn.bbox.left, drawn.bbox.top);
    ctx.scale(ratio, ratio);
    const shown = largestFirst.map((index) => ({ center: at(index), event: events[index] })).filter(({ center }) => center);
    for (const { center, event } of shown) {
      circle(ctx, center, size(event.mag), colouring.of(event));
    }
    ctx.restore();
    drawn.root.dataset.events = shown.length; // which no element shows
    place();
  }

  function circle(ctx, { x, y }, r, name) {
    ctx.beginPath();
    ctx.arc(x, y, r, 0, 2 * Math.PI);
    ctx.strokeStyle = name === "unknown" ? plot.colour("plot-text") : plot.colour(`${colouring.name}-${name.slice(1)}`);
    if (name !== "unknown") {
      ctx.globalAlpha = OPACITY;
      ctx.fillStyle = ctx.strokeStyle;
      ctx.fill();
      ctx.globalAlpha = 1;
    }
    ctx.stroke();
  }

  function describe() {
    slider.setAttribute("aria-valuetext", events.length ? words(events[slider.valueAsNumber]) : "no event");
  }
  slider.addEventListener("input", describe);

  return {
    hooks: { ready: [begin], draw: [draw] },
    /** Takes the events in the order of the plot's columns. */
    take(given, colours) {
      events = given;
      colouring = colours;
      largestFirst = events.map((_, index) => index).sort((one, other) => events[other].mag - events[one].mag);
      slider.max = String(Math.max(0, events.length - 1));
      slider.disabled = !events.length;
      describe();
    },
    /** Marks one event, or none. */
    select(eventId) {
      marks.set(selection, eventId);
      place();
    },
    /** Rings an arrival for a while. */
    ring(eventId) {
      const ring = element("i", "", "arrival");
      marks.set(ring, eventId);
      place();
      setTimeout(() => {
        marks.delete(ring);
        ring.remove();
      }, RING_MS);
    },
  };
}

/** Leads through the events by keyboard, shown while it has the focus. Enter selects the event that the tip explains. */
function sliderOf(figure, order) {
  const slider = element("input", "", "plot-slider");
  slider.type = "range";
  slider.min = "0";
  slider.value = "0";
  slider.ariaLabel = `Events in order of ${order}, Enter selects`;
  figure.querySelector("figcaption").before(slider);
  return slider;
}
