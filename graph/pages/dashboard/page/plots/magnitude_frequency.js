// How often which magnitudes are: counts on a logarithmic axis, with the Gutenberg-Richter relation that the service
// estimates from the events at and above the magnitude of completeness, unless they contradict it.

import { count, counted, magnitude } from "../format.js";
import { element } from "../html.js";
import { relationAt, sentences, styleOf } from "./gutenberg_richter.js";
import { partsOf, plotIn } from "./plot.js";
import { point, reach } from "./pointing.js";
import { tipOver } from "./tip.js";

const LEAST = 0.7; // on the axis of numbers, so that single events are above it
const DASHES = [6, 5]; // px

/** @param {HTMLElement} figure */
export function magnitudeFrequency(figure) {
  const { place, caption } = partsOf(figure);
  const legend = legendAfter(place);
  let bins = [];
  let relation = null; // null as long as there is none to draw
  let style = null;
  let noun = "earthquake";

  const plot = plotIn(
    place,
    ({ axis, colour, uPlot }) => {
      const points = (name, size, others) => ({
        scale: "y",
        paths: () => null,
        points: { show: true, size, stroke: () => colour(name), width: 1, ...others },
      });
      const edge = { scale: "y", stroke: null, width: 0, points: { show: false } };
      return {
        titles: () => ({ left: { text: `${noun}s` }, x: { text: "magnitude" } }),
        scales: {
          x: { time: false, range: () => outermost(bins) },
          y: { distr: 3, log: 10, range: () => [LEAST, Math.max(10, bins[0]?.cumulative ?? 1) * 1.6] },
        },
        bands: [{ series: [4, 5], fill: () => colour("plot-band") }],
        series: [
          {},
          points("plot-fill", 5, { fill: "transparent" }),
          points("plot-dots", 6, { fill: () => colour("plot-dots") }),
          { scale: "y", stroke: () => colour("plot-mark"), width: 2, paths: line(uPlot, () => style), points: { show: false } },
          edge,
          edge,
        ],
        axes: [
          axis({ scale: "x", space: 48, size: 40, values: (_, values) => values.map(magnitude) }),
          axis({
            scale: "y",
            size: 64,
            filter: powers,
            grid: { ...axis({}).grid, filter: powers },
            values: (_, values) => values.map((value) => value && count(value)),
          }),
        ],
        hooks: {
          ready: [begin],
          draw: [(drawn) => relation?.completeness != null && completeness(drawn, relation.completeness, colour("plot-text"))],
        },
      };
    },
  );
  Object.defineProperty(figure, "plot", { get: () => plot.drawn, configurable: true });

  function begin(drawn) {
    const tip = tipOver(drawn.over);
    point(drawn, {
      onHover: ({ x }, event) => {
        const [nearest] = bins
          .map((bin) => ({ bin, left: drawn.valToPos(bin.magnitude, "x") }))
          .sort((one, other) => Math.abs(one.left - x) - Math.abs(other.left - x));
        if (nearest && Math.abs(nearest.left - x) <= reach(event)) {
          const { magnitude: from, count: within, cumulative } = nearest.bin;
          const text = `M ${magnitude(from)}: ${counted(cumulative, noun)} of this or more, ${count(within)} of this tenth`;
          tip.show(text, nearest.left, drawn.valToPos(cumulative, "y"));
        } else {
          tip.hide();
        }
      },
      onLeave: tip.hide,
    });
  }

  return {
    /**
     * @param {object} shown
     * @param {?object} shown.statistics  CatalogueStatistics; null where they are not known
     * @param {string} [shown.noun]  what is counted: earthquakes alone, unless the filter names types
     */
    show({ statistics, noun: counts = "earthquake" }) {
      if (!statistics) {
        return;
      }
      bins = statistics.magnitudeFrequency;
      relation = statistics.gutenbergRichter;
      style = styleOf(relation);
      noun = counts;
      legend.fit.hidden = !style;
      legend.fit.className = style ?? "";
      const magnitudes = bins.map((bin) => bin.magnitude);
      const none = magnitudes.map(() => null);
      const { line, least, greatest } = style ? relationAt(relation, magnitudes) : { line: none, least: none, greatest: none };
      const columns = [bins.map((bin) => bin.count || null), bins.map((bin) => bin.cumulative), line, greatest, least];
      plot.show(bins.length ? [magnitudes, ...columns] : null);
      caption.textContent = `${counted(statistics.count, noun)}. ${sentences(relation, noun)}`;
    },
    redraw: plot.redraw,
  };
}

/** Leaves only the powers of ten. */
const powers = (_, values) => values.map((value) => (Number.isInteger(Math.log10(value)) ? value : null));

const outermost = (bins) => (bins.length ? [bins[0].magnitude - 0.15, bins.at(-1).magnitude + 0.15] : [0, 1]);

/** The path of the fit, dashed where it is doubtful. */
function line(uPlot, style) {
  const linear = uPlot.paths.linear();
  return (drawn, index, from, to) => {
    drawn.series[index].dash = style() === "dashed" ? DASHES : null;
    return linear(drawn, index, from, to);
  };
}

/** A line at the magnitude of completeness, with its name at the top. */
function completeness({ ctx, bbox, valToPos }, from, colour) {
  const ratio = devicePixelRatio;
  const x = valToPos(from, "x", true);
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = ratio;
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.font = `${12 * ratio}px ${getComputedStyle(ctx.canvas).fontFamily}`;
  const isRight = x < bbox.left + 0.75 * bbox.width;
  ctx.textAlign = isRight ? "left" : "right";
  ctx.textBaseline = "top";
  ctx.fillText(`complete from ${magnitude(from)}`, x + (isRight ? 5 : -5) * ratio, bbox.top + 2 * ratio);
  ctx.restore();
}

/** What the marks are. */
function legendAfter(place) {
  const list = element("ul", "", "plot-legend");
  const texts = {
    cumulative: "this magnitude or more",
    "in-bin": "this tenth of a magnitude",
    fit: "Gutenberg–Richter, with the 95 % band of b",
  };
  const entries = Object.entries(texts).map(([name, text]) => {
    const entry = element("li");
    const swatch = element("i", "", name);
    swatch.ariaHidden = "true";
    entry.append(swatch, text);
    return [name, entry];
  });
  list.append(...entries.map(([, entry]) => entry));
  place.after(list);
  return Object.fromEntries(entries);
}
