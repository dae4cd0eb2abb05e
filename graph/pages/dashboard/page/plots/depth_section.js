// Depths: the earth cut open along the longitude or the latitude, each event a circle as on the map, and beside it the number
// of events by depth.

import { count, counted, decimal } from "../format.js";
import { element } from "../html.js";
import { bars } from "./bars.js";
import { merged } from "./depths.js";
import { eventCircles } from "./event_circles.js";
import { partsOf, plotIn, WHOLE_STEPS } from "./plot.js";
import { point } from "./pointing.js";
import { isWide, latitude, longitude, unwrapped } from "./section_line.js";
import { tipOver } from "./tip.js";

const DEGREES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 45, 60, 90];
const LEAST_KM = 10; // on the axis

/**
 * @param {HTMLElement} figure
 * @param {object} callbacks
 * @param {(eventId: string, at: {x: number, y: number}) => void} callbacks.onSelect  at px of the window
 */
export function depthSection(figure, { onSelect }) {
  const { place, caption } = partsOf(figure);
  const choice = choiceOf(place, () => shown && draw());
  let shown = null;
  let along = [0, 1]; // degrees
  let deepest = LEAST_KM;
  let isAlongLongitude = true;
  let histogram = { edges: [], counts: [] };

  const depth = { dir: -1, range: () => [-0.04 * deepest, 1.04 * deepest] };
  const plot = plotIn(
    place,
    ({ axis }) => ({
      titles: () => ({ left: { text: "km deep" }, x: { text: isAlongLongitude ? "longitude" : "latitude" } }),
      scales: { x: { time: false, range: () => along }, y: depth },
      series: [{}, { paths: () => null, points: { show: false } }],
      axes: [
        axis({
          scale: "x",
          size: 40,
          space: 60,
          incrs: DEGREES,
          values: (_, values) => values.map(isAlongLongitude ? longitude : latitude),
        }),
        axis({ scale: "y", size: 40, space: 36, values: (_, values) => values.map(count) }),
      ],
      hooks: circles.hooks,
    }),
  );
  const circles = eventCircles(figure, plot, { order: "their place", onSelect });
  Object.defineProperty(figure, "plot", { get: () => plot.drawn, configurable: true });

  const beside = besideOf(place);
  const histogramPlot = plotIn(beside, ({ axis, colour }) => ({
    titles: () => ({ left: { text: "all" } }),
    padding: [24, 8, 0, 8],
    scales: {
      x: { time: false, ori: 1, ...depth },
      y: { ori: 0, range: () => [0, Math.max(1, ...histogram.counts) * 1.05] },
    },
    series: [{}, { scale: "y", paths: () => null, points: { show: false } }],
    axes: [
      axis({ scale: "x", side: 3, size: 0, space: 36, values: (_, values) => values.map(() => "") }),
      axis({ scale: "y", side: 2, size: 40, space: 30, incrs: WHOLE_STEPS, values: (_, values) => values.map(count) }),
    ],
    hooks: {
      ready: [(drawn) => explain(drawn, () => histogram)],
      drawAxes: [
        (drawn) => bars(drawn, "y", histogram.edges, histogram.counts, () => colour("plot-fill"), colour("plot-fill")),
      ],
    },
  }));
  Object.defineProperty(figure, "histogram", { get: () => histogramPlot.drawn, configurable: true });

  function draw() {
    const { events, colouring, statistics } = shown;
    const known = events.filter((event) => event.depth !== null);
    isAlongLongitude = choice.value ? choice.value === "longitude" : !known.length || isWide(known);
    choice.options[0].textContent = `automatic: ${isAlongLongitude ? "longitude" : "latitude"}`;
    const around = unwrapped(known.map(({ lon }) => lon));
    const at = isAlongLongitude ? ({ lon }) => around(lon) : ({ lat }) => lat;
    const sorted = known.map((event) => [at(event), event]).sort(([one], [other]) => one - other);
    const [first, last] = sorted.length ? [sorted[0][0], sorted.at(-1)[0]] : [0, 1];
    const room = Math.max((last - first) * 0.03, 0.02);
    along = [first - room, last + room];
    histogram = merged(statistics?.depths.reason ? [] : (statistics?.depths.bins ?? []));
    deepest = Math.max(LEAST_KM, ...known.map((event) => event.depth), histogram.edges.at(-1) ?? 0);
    circles.take(sorted.map(([, event]) => event), colouring);
    plot.show(sorted.length ? [sorted.map(([x]) => x), sorted.map(([, event]) => event.depth)] : null);
    const middles = histogram.counts.map((_, index) => (histogram.edges[index] + histogram.edges[index + 1]) / 2);
    histogramPlot.show(sorted.length && middles.length ? [middles, histogram.counts] : null);
    caption.textContent = sentences(shown, known);
  }

  return {
    /**
     * @param {object} given  as of the magnitudes in time
     */
    show(given) {
      shown = given;
      draw();
    },
    select: circles.select,
    ring: circles.ring,
    redraw() {
      plot.redraw();
      histogramPlot.redraw();
    },
  };
}

/** What the section is along, by name; nothing for the wider of the two. */
function choiceOf(place, onChange) {
  const choice = element("p", "along ", "plot-choice");
  const select = element("select");
  select.ariaLabel = "Section along"; // a label around it would be named by its options too
  for (const [value, text] of [["", "automatic"], ["longitude", "longitude"], ["latitude", "latitude"]]) {
    const option = element("option", text);
    option.value = value;
    select.append(option);
  }
  select.addEventListener("change", onChange);
  choice.append(select);
  place.before(choice);
  return select;
}

/** A place for a second plot, to the right of the first. */
function besideOf(place) {
  const row = element("div", "", "plot-row");
  const beside = element("div", "", "plot-beside");
  beside.setAttribute("role", "img");
  beside.ariaLabel = "Number of earthquakes by depth";
  place.replaceWith(row);
  row.append(place, beside);
  return beside;
}

/** Names a bar under the pointer. */
function explain(drawn, histogram) {
  const tip = tipOver(drawn.over);
  point(drawn, {
    onHover: ({ y }) => {
      const { edges, counts } = histogram();
      const km = drawn.posToVal(y, "x");
      const at = counts.findIndex((_, index) => edges[index] <= km && km < edges[index + 1]);
      if (at < 0) {
        tip.hide();
      } else {
        tip.show(`${edges[at]} to ${edges[at + 1]} km: ${count(counts[at])}`, drawn.over.clientWidth, y, 0);
      }
    },
    onLeave: tip.hide,
  });
}

function sentences({ events, isWhole, count: all, statistics }, known) {
  if (!events.length) {
    return "No event to show.";
  }
  const depths = known.map((event) => event.depth);
  const parts = [isWhole ? counted(events.length, "event") : `The ${count(events.length)} largest of ${all ? count(all) : "more"} events`];
  if (depths.length) {
    parts[0] += `, from ${decimal(Math.min(...depths), 0)} to ${decimal(Math.max(...depths), 0)} km deep`;
  }
  const unknown = events.length - known.length;
  if (unknown) {
    parts.push(`${counted(unknown, "event")} without a depth ${unknown === 1 ? "is" : "are"} not drawn`);
  }
  if (statistics?.depths.reason) {
    parts.push(`The depths of all are not counted: ${statistics.depths.reason.replace(/\.$/, "")}`);
  } else if (statistics?.depths.bins.length) {
    parts.push("The bars count all earthquakes");
  }
  return `${parts.join(". ")}.`;
}
