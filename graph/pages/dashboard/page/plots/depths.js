// The number of events by depth, in bins that suit the height of a plot.

const MOST_BARS = 40;
const KM = [5, 10, 20, 50, 100, 200]; // heights of a bar; the service counts in the least

/** The height of a bin that the service is asked for, km. */
export const BIN_KM = KM[0];

/**
 * Puts bins of the service together, so that there are few.
 *
 * @param {{depth: number, count: number}[]} bins  from the surface down, BIN_KM each
 * @returns {{edges: number[], counts: number[]}}  km, one edge more than counts
 */
export function merged(bins) {
  const height = KM.find((km) => (bins.length * BIN_KM) / km <= MOST_BARS) ?? KM.at(-1);
  const counts = [];
  for (const { depth, count } of bins) {
    const at = Math.floor((depth + BIN_KM / 2) / height);
    counts[at] = (counts[at] ?? 0) + count;
  }
  return { edges: Array.from({ length: counts.length + (counts.length ? 1 : 0) }, (_, at) => at * height), counts };
}
