// Magnitudes over time: each event a circle, coloured as on the map. Where there are more events than circles, bars behind
// them show how many there are.

import { count, counted, magnitude, minute } from "../format.js";
import { extent } from "../scales.js";
import { bars } from "./bars.js";
import { eventCircles } from "./event_circles.js";
import { edges, NOUNS } from "./periods.js";
import { partsOf, plotIn, WHOLE_STEPS } from "./plot.js";
import { inTime, timeLabels } from "./time_axis.js";

const PART_OF_BARS = 0.22; // of the plot's height, below the circles

/**
 * @param {HTMLElement} figure
 * @param {object} callbacks
 * @param {(eventId: string, at: {x: number, y: number}) => void} callbacks.onSelect  at px of the window
 * @param {(range: {from: number, to: number}) => void} [callbacks.onRange]  a range of time that was dragged, epoch ms
 * @param {() => "UTC" | "local"} [callbacks.timeZone]
 */
export function magnitudeTime(figure, { onSelect, onRange = null, timeZone = () => "UTC" }) {
  const { place, caption } = partsOf(figure);
  let range = { from: 0, to: 1 };
  let series = null; // of all events, where not all are drawn
  let most = 0; // events in one of its periods
  let magnitudes = [0, 1]; // the least and the greatest

  const plot = plotIn(
    place,
    ({ uPlot, axis, colour }) => ({
      ...inTime(uPlot, timeZone),
      titles: () => ({
        left: { text: "magnitude" },
        right: { text: series ? `all, a ${NOUNS[series.interval]}` : "" },
        x: { text: timeZone() === "local" ? "your time" : "UTC" },
      }),
      scales: {
        x: { time: true, range: () => padded(range.from, range.to, 0.012) },
        y: { range: () => withBars(magnitudes, Boolean(series)) },
        count: { range: () => [0, Math.max(1, most) / PART_OF_BARS] },
      },
      series: [{}, { paths: () => null, points: { show: false } }],
      axes: [
        axis(timeLabels),
        axis({
          scale: "y",
          size: 34,
          space: 32,
          values: (_, values) => values.map((value) => (value >= magnitudes[0] - 0.1 ? magnitude(value) : "")),
        }),
        axis({
          scale: "count",
          side: 1,
          grid: { show: false },
          size: () => (series ? 58 : 0),
          values: (_, values) => values.map((value) => (series && value <= most ? count(value) : "")),
          incrs: WHOLE_STEPS,
          space: 16,
        }),
      ],
      hooks: {
        ...circles.hooks,
        drawAxes: [
          (drawn) =>
            series && bars(drawn, "count", edges(series), series.counts, () => colour("plot-bar"), colour("plot-fill")),
        ],
      },
    }),
  );
  const circles = eventCircles(figure, plot, { order: "time", onSelect, onRange });
  Object.defineProperty(figure, "plot", { get: () => plot.drawn, configurable: true });

  return {
    /**
     * @param {object} shown
     * @param {import("../documents.js").QuakeEvent[]} shown.events
     * @param {boolean} shown.isWhole  whether these are all; else they are the largest
     * @param {?number} shown.count  of all events; null where it is not known
     * @param {?{from: number, to: number}} shown.range  of time, epoch ms
     * @param {import("../scales.js").Colouring} shown.colouring
     * @param {?object} shown.statistics  CatalogueStatistics, with its series; null where they are not known
     */
    show({ events, isWhole, count: all, range: shown, colouring, statistics }) {
      const sorted = [...events].sort((one, other) => one.eventTsMs - other.eventTsMs);
      range = shown ?? range;
      series = isWhole || !statistics?.series.counts.length ? null : statistics.series;
      most = series ? Math.max(...series.counts) : 0;
      magnitudes = extent(sorted, "mag");
      circles.take(sorted, colouring);
      plot.show(sorted.length ? [sorted.map(({ eventTsMs }) => eventTsMs), sorted.map(({ mag }) => mag)] : null);
      caption.textContent = sentences(sorted, isWhole, all, series, onRange !== null);
    },
    select: circles.select,
    ring: circles.ring,
    redraw: plot.redraw,
  };
}

function sentences(events, isWhole, all, series, canDrag) {
  if (!events.length) {
    return "No event to show.";
  }
  const [least, greatest] = extent(events, "mag");
  const times = `from ${minute(events[0].eventTsMs)} to ${minute(events.at(-1).eventTsMs)}`;
  const magnitudes = `magnitudes ${magnitude(least)} to ${magnitude(greatest)}`;
  const number = isWhole ? counted(events.length, "event") : `The ${count(events.length)} largest of ${all ? count(all) : "more"} events`;
  const behind = series ? ` The bars count all earthquakes of a ${NOUNS[series.interval]}.` : "";
  const drag = canDrag ? " Drag across a time to see it alone, or fill in its days in the filters." : "";
  return `${number}, ${times}, ${magnitudes}.${behind}${drag}`;
}

/** A range with room on both sides, as a part of its length. */
function padded(least, greatest, part) {
  const room = (greatest - least) * part;
  return [least - room, greatest + room];
}

/** The range of magnitudes, with room for circles at its ends and for bars below them. */
function withBars([least, greatest], areBars) {
  const [from, to] = padded(Math.min(least, greatest - 0.5), Math.max(greatest, least + 0.5), 0.06);
  return [areBars ? from - ((to - from) * PART_OF_BARS) / (1 - PART_OF_BARS) : from, to];
}
