// Time on an axis: ticks at round times of UTC, or of the browser's time zone, and what they are called.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

// uPlot's templates by the distance of ticks, ms: of every tick, and what the first of a year or a day has below.
const LABELS = [
  [365 * DAY, "{YYYY}", null, null, null, null, null, null, 1],
  [28 * DAY, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [DAY, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [60_000, "{HH}:{mm}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
];

/**
 * The options of a plot whose horizontal axis is time, epoch milliseconds.
 *
 * @param {Function} uPlot
 * @param {() => "UTC" | "local"} timeZone
 */
export function inTime(uPlot, timeZone) {
  return {
    ms: 1,
    tzDate: (ms) => (timeZone() === "local" ? new Date(ms) : uPlot.tzDate(new Date(ms), "Etc/UTC")),
  };
}

/** The options of the axis. */
export const timeLabels = { scale: "x", values: LABELS, space: 64, size: 40 };
