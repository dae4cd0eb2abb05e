// The periods that the service counts events in: days, months or years of UTC.

const DAY_MS = 24 * 3_600_000;
const MOST = 400; // periods in a plot
const MONTHS_OF = { MONTH: 1, YEAR: 12 };

/** What a period is called. */
export const NOUNS = { DAY: "day", MONTH: "month", YEAR: "year" };

/**
 * The shortest interval that cuts a time range into few enough periods.
 *
 * @param {{from: number, to: number}} range  epoch ms
 * @returns {"DAY" | "MONTH" | "YEAR"}
 */
export function intervalOf({ from, to }) {
  const days = (to - from) / DAY_MS;
  return days <= MOST ? "DAY" : days <= MOST * 30 ? "MONTH" : "YEAR";
}

/**
 * The start of each period of a series and, after the last one, its end: epoch ms.
 *
 * @param {{interval: "DAY" | "MONTH" | "YEAR", startsAt: ?string, counts: number[]}} series
 */
export function edges({ interval, startsAt, counts }) {
  if (!counts.length) {
    return [];
  }
  const first = new Date(startsAt);
  const months = MONTHS_OF[interval];
  return Array.from({ length: counts.length + 1 }, (_, number) =>
    months
      ? Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + number * months, 1)
      : first.getTime() + number * DAY_MS,
  );
}
