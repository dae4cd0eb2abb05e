// How many events each day brings, or each month or year of a long time, and how many there are since the beginning.

import { count, counted } from "../format.js";
import { bars } from "./bars.js";
import { edges, NOUNS } from "./periods.js";
import { partsOf, plotIn, WHOLE_STEPS } from "./plot.js";
import { point } from "./pointing.js";
import { inTime, timeLabels } from "./time_axis.js";
import { tipOver } from "./tip.js";

/**
 * @param {HTMLElement} figure
 * @param {{onRange?: (range: {from: number, to: number}) => void}} [callbacks]  a range of time that was dragged, epoch ms
 */
export function eventRates(figure, { onRange = null } = {}) {
  const { place, caption } = partsOf(figure);
  let range = { from: 0, to: 1 };
  let series = { interval: "DAY", startsAt: null, counts: [] };
  let times = []; // of the edges of its periods
  let noun = "earthquake";

  const isCut = (index) => times[index] < range.from || times[index + 1] > range.to + 1;

  const plot = plotIn(
    place,
    ({ uPlot, axis, colour }) => ({
      ...inTime(uPlot, () => "UTC"), // the service's days are
      titles: () => ({
        left: { text: `${noun}s a ${NOUNS[series.interval]}` },
        right: { text: "since the beginning", ink: "plot-mark" },
        x: { text: "UTC" },
      }),
      scales: {
        x: { time: true, range: () => [range.from, range.to] },
        y: { range: (_, __, greatest) => [0, Math.max(1, greatest ?? 1) * 1.08] },
        sum: { range: (_, __, greatest) => [0, Math.max(1, greatest ?? 1) * 1.08] },
      },
      series: [
        {},
        { scale: "y", paths: () => null, points: { show: false } },
        { scale: "sum", width: 1.5, stroke: () => colour("plot-mark"), points: { show: false } },
      ],
      axes: [
        axis(timeLabels),
        axis({ scale: "y", size: 58, space: 36, incrs: WHOLE_STEPS, values: (_, values) => values.map(count) }),
        axis({
          scale: "sum",
          side: 1,
          size: 64,
          space: 36,
          stroke: () => colour("plot-mark"),
          grid: { show: false },
          incrs: WHOLE_STEPS,
          values: (_, values) => values.map(count),
        }),
      ],
      hooks: {
        ready: [begin],
        drawAxes: [
          (drawn) =>
            bars(
              drawn,
              "y",
              times,
              series.counts,
              (index) => colour(isCut(index) ? "plot-bar" : "plot-fill"),
              colour("plot-fill"),
            ),
        ],
      },
    }),
  );
  Object.defineProperty(figure, "plot", { get: () => plot.drawn, configurable: true });

  function begin(drawn) {
    const tip = tipOver(drawn.over);
    point(drawn, {
      onHover: ({ x }) => {
        const time = drawn.posToVal(x, "x");
        const index = times.findIndex((start, at) => start <= time && time < times[at + 1]);
        if (index < 0) {
          tip.hide();
          return;
        }
        const cut = isCut(index) ? ", in part" : "";
        tip.show(`${nameOf(times[index], series.interval)}${cut}: ${counted(series.counts[index], noun)}`, x, 24);
      },
      onLeave: tip.hide,
      onDrag: onRange && ((from, to) => onRange({ from: drawn.posToVal(from, "x"), to: drawn.posToVal(to, "x") })),
    });
  }

  return {
    /**
     * @param {object} shown
     * @param {?object} shown.statistics  CatalogueStatistics, with its series; null where they are not known
     * @param {?{from: number, to: number}} shown.range  of time, epoch ms
     * @param {string} [shown.noun]  what is counted: earthquakes alone, unless the filter names types
     */
    show({ statistics, range: shown, noun: counts = "earthquake" }) {
      if (!statistics) {
        return;
      }
      ({ series } = statistics);
      noun = counts;
      times = edges(series);
      range = shown ?? range;
      const sums = series.counts.reduce((found, number) => [...found, found.at(-1) + number], [0]);
      const ends = times.map((time) => Math.min(range.to, Math.max(range.from, time))); // where the time range cuts them
      plot.show(times.length ? [ends, [...series.counts, null], sums] : null);
      caption.textContent = sentences(series, times, noun, isCut);
    },
    redraw: plot.redraw,
  };
}

/** 2023-08-04, 2023-08 or 2023 */
const nameOf = (time, interval) =>
  new Date(time).toISOString().slice(0, { DAY: 10, MONTH: 7, YEAR: 4 }[interval]);

function sentences({ interval, counts }, times, noun, isCut) {
  const total = counts.reduce((sum, number) => sum + number, 0);
  if (!total) {
    return `No ${noun} to count.`;
  }
  const greatest = Math.max(...counts);
  const at = nameOf(times[counts.indexOf(greatest)], interval);
  const cut = counts.map((_, index) => nameOf(times[index], interval)).filter((_, index) => isCut(index));
  const most = `most ${interval === "DAY" ? "on" : "in"} ${at}: ${count(greatest)}`;
  const parts = [`${counted(total, noun)} by ${NOUNS[interval]}, ${most}.`];
  if (cut.length) {
    parts.push(`Of ${cut.join(" and ")} only a part is in the time range.`);
  }
  return parts.join(" ");
}
