// The sizes and the colours of events, on the map, in the plots and in the list.

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
