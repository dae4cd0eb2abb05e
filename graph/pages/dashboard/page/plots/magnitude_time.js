// Magnitudes over time: each event a circle, coloured as on the map.

import { EventCircles } from "../map/event_circles.js";
import { magnitude, minute } from "../format.js";
import { extent, linear, radius, ticks, timeTicks } from "../scales.js";
import { axes, onSize, plotHeight, svg } from "./svg.js";

const MARGINS = { left: 38, right: 14, top: 26, bottom: 42 }; // px

/**
 * @param {HTMLElement} figure
 * @param {(eventId: string) => void} onSelect
 */
export function magnitudeTime(figure, onSelect) {
  const drawing = figure.querySelector("svg");
  const circles = new EventCircles(drawing, onSelect);
  const frame = svg("g");
  drawing.append(frame, circles.group);
  let size = null;
  let shown = null;

  function draw() {
    if (!size || !shown) {
      return;
    }
    const { events, colouring } = shown;
    if (!events.length) {
      frame.replaceChildren();
      circles.draw([], null, colouring);
      return;
    }
    const area = {
      left: MARGINS.left,
      right: size.width - MARGINS.right,
      top: MARGINS.top,
      bottom: size.height - MARGINS.bottom,
    };
    const times = padded(extent(events, "eventTsMs"), 0.01, 3_600_000);
    const magnitudes = padded(extent(events, "mag"), 0.04, 0.5);
    const x = linear(times, [area.left, area.right]);
    const y = linear(magnitudes, [area.bottom, area.top]);
    frame.replaceChildren(
      axes(
        area,
        timeTicks(times, Math.max(2, Math.floor(size.width / 70))).map(({ ms, label }) => ({ at: x(ms), label })),
        ticks(magnitudes, 6).map((value) => ({ at: y(value), label: magnitude(value) })),
        { x: "time, UTC", y: "magnitude" },
      ),
    );
    circles.draw(
      events,
      ({ eventTsMs, mag }) => ({ x: x(eventTsMs), y: y(mag), r: Math.max(2, radius(mag) / 2) }),
      colouring,
    );
  }

  onSize(drawing, plotHeight, (width, height) => {
    size = { width, height };
    draw();
  });

  return {
    show(events, colouring) {
      shown = { events, colouring };
      figure.querySelector("figcaption").textContent = caption(events);
      draw();
    },
    select: (eventId) => circles.select(eventId),
    ring: (eventId) => circles.ring(eventId),
  };
}

function caption(events) {
  if (!events.length) {
    return "No event to show.";
  }
  const [first, last] = extent(events, "eventTsMs");
  const [least, greatest] = extent(events, "mag");
  return `From ${minute(first)} to ${minute(last)}, magnitudes ${magnitude(least)} to ${magnitude(greatest)}.`;
}

/** A range with room on both sides: a share of its length, and so much at least. */
function padded([from, to], share, least) {
  const room = Math.max((to - from) * share, (least - (to - from)) / 2);
  return [from - room, to + room];
}
