// From values to places, sizes and classes of colour, and the ticks of axes.

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

/** The least and the greatest value of an attribute; an empty range, from Infinity down, where there is none. */
export function extent(items, attribute) {
  return items.reduce(
    ([least, most], { [attribute]: value }) => [Math.min(least, value), Math.max(most, value)],
    [Infinity, -Infinity],
  );
}

/** A function that maps [from, to] to [start, end]. */
export function linear([from, to], [start, end]) {
  const slope = to === from ? 0 : (end - start) / (to - from);
  return (value) => start + (value - from) * slope;
}

/** The circle of a magnitude, px on a wide map: an earthquake ten times as large is drawn 1.6 times as wide. */
export function radius(mag) {
  return Math.min(40, Math.max(1.5, 0.9 * 1.6 ** mag));
}

/**
 * The classes of a colouring, each with what the legend calls it. CSS has their colours, as `.c1` to `.c5` within
 * `.by-age` or `.by-depth`, for light and dark.
 *
 * @typedef {{name: "age" | "depth", title: string, classes: {name: string, label: string}[],
 *   of: (event: import("./documents.js").QuakeEvent) => string}} Colouring
 */

// Ages below which a class is, in a short time and in a long one. A week that grows while the page is open stays short.
const SHORT = 14 * DAY;
const RECENT = [["an hour", HOUR], ["6 hours", 6 * HOUR], ["a day", DAY], ["3 days", 3 * DAY], ["older", Infinity]];
const LONG = [["a day", DAY], ["a week", 7 * DAY], ["30 days", 30 * DAY], ["a year", 365 * DAY], ["older", Infinity]];

/**
 * By age, counted from the newest event: of a catalogue that is not kept up, the newest are still the newest.
 *
 * @returns {Colouring}
 */
export function byAge(oldest, newest) {
  const scale = newest - oldest <= SHORT ? RECENT : LONG;
  return {
    name: "age",
    title: "Time before the newest",
    classes: scale.map(([label, end], at) => ({ name: `c${at + 1}`, label: end === Infinity ? label : `≤ ${label}` })),
    of: ({ eventTsMs }) => `c${scale.findIndex(([, end]) => newest - eventTsMs <= end) + 1}`,
  };
}

const DEPTHS = [10, 35, 70, 300, Infinity]; // km; from 70 on intermediate, from 300 on deep

/** @returns {Colouring} */
export function byDepth() {
  const labels = DEPTHS.map((end, at) => (end === Infinity ? `≥ ${DEPTHS[at - 1]} km` : `< ${end} km`));
  return {
    name: "depth",
    title: "Depth",
    classes: [...labels.map((label, at) => ({ name: `c${at + 1}`, label })), { name: "unknown", label: "not measured" }],
    of: ({ depth }) => (depth === null ? "unknown" : `c${DEPTHS.findIndex((end) => depth < end) + 1}`),
  };
}

/** Round values within a range, at most so many. */
export function ticks([from, to], most) {
  const rough = (to - from) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const values = [];
  for (let n = Math.ceil(from / step); n * step <= to + step / 1e6; n++) {
    values.push(Number((n * step).toPrecision(12)));
  }
  return values;
}

const PERIODS = [1, 3, 6, 12].map((hours) => hours * HOUR).concat([1, 2, 7, 14].map((days) => days * DAY));
const MONTHS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200];

/**
 * Round times within a range, at most so many.
 *
 * @returns {{ms: number, label: string}[]}
 */
export function timeTicks([from, to], most) {
  const period = PERIODS.find((length) => (to - from) / length <= most);
  const found = [];
  if (period) {
    for (let ms = Math.ceil(from / period) * period; ms <= to; ms += period) {
      const iso = new Date(ms).toISOString();
      found.push({ ms, label: ms % DAY ? iso.slice(11, 16) : iso.slice(5, 10) });
    }
    return found;
  }
  const length = MONTHS.find((months) => (to - from) / (months * 30.44 * DAY) <= most) ?? MONTHS.at(-1);
  const start = new Date(from);
  const first = Math.ceil((start.getUTCFullYear() * 12 + start.getUTCMonth()) / length) * length;
  for (let month = first; ; month += length) {
    const ms = new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1);
    if (ms > to) {
      return found;
    }
    if (ms >= from) {
      found.push({ ms, label: new Date(ms).toISOString().slice(0, length % 12 ? 7 : 4) });
    }
  }
}
