// The line of a Gutenberg-Richter relation, the band in which it may lie, and what can honestly be said of both.

import { counted, decimal, magnitude } from "../format.js";
import { inWords } from "../graph.js";
import { placesOf, uncertain } from "./uncertain.js";

const BIN = 0.1; // magnitudes are counted in tenths

/** What is drawn of a relation, by its reliability: no line that the data contradict. */
const STYLES = { GOOD: "solid", DOUBTFUL: "dashed" };

/**
 * How a relation is drawn; null for not at all.
 *
 * @param {object} relation  GutenbergRichter
 * @returns {?("solid" | "dashed")}
 */
export const styleOf = ({ b, reliability }) => (b === null ? null : (STYLES[reliability] ?? null));

/**
 * The numbers of events of at least some magnitudes by a relation, and the least and the greatest that its uncertainty
 * allows.
 *
 * log10 N(M) = log10 N(Mc) − b (M − Mc): the number N(Mc) of events from the completeness Mc on is counted, and the a-value
 * follows from it and b. So b alone is estimated. The band lies between the lines of the two ends of its interval, and all
 * pass through (Mc, N(Mc)). The interval is that between the 2.5 % and the 97.5 % quantile of b of resampled events: Efron
 * (1979), Ann. Stat. 7, 1-26.
 *
 * @param {object} relation  GutenbergRichter, with b
 * @param {number[]} magnitudes  null is given for those below the completeness
 * @returns {{line: ?number[], least: ?number[], greatest: ?number[]}}
 */
export function relationAt({ completeness, b, events, bootstrap }, magnitudes) {
  const along = (slope) =>
    magnitudes.map((mag) => (mag < completeness - BIN / 2 ? null : events * 10 ** (-slope * (mag - completeness))));
  return { line: along(b), least: along(bootstrap.high), greatest: along(bootstrap.low) };
}

/**
 * The uncertainty of b that is written. It is not less than what counting in tenths leaves open: the service's estimate for
 * bins, that of Utsu (1966), is (ln 10 · b · 0.1)² / 12 of itself below the exact one of Tinti and Mulargia (1987), BSSA 77,
 * 2125-2134.
 */
const uncertaintyOf = ({ b, uncertainty }) => Math.max(uncertainty, (b * (Math.LN10 * b * BIN) ** 2) / 12);

/**
 * The standard deviation of a = log10 N + b Mc: that of b, and that of counting N independent events, √N.
 *
 * @param {object} relation  GutenbergRichter
 */
const uncertaintyOfA = (relation) =>
  Math.hypot(relation.completeness * uncertaintyOf(relation), Math.LOG10E / Math.sqrt(relation.events));

/** What there is to say of a relation. */
export function sentences(relation, noun) {
  const { a, b, completeness, events, reliability, bootstrap } = relation;
  const reason = relation.reason && inWords(relation.reason);
  if (b === null) {
    return `No Gutenberg–Richter relation: ${reason}`;
  }
  const from = `Complete from magnitude ${magnitude(completeness)}, by maximum curvature.`;
  if (reliability === "POOR") {
    return `${from} No line is drawn, since the ${counted(events, noun)} from there have no common slope: ${reason}`;
  }
  const known = uncertaintyOf(relation);
  const [low, high] = [bootstrap.low, bootstrap.high].map((end) => decimal(end, placesOf(known)));
  const estimate =
    `Of ${counted(events, noun)} from there, b = ${uncertain(b, known)} and ` +
    `a = ${uncertain(a, uncertaintyOfA(relation))}. The band has b from ${low} to ${high}, as 95 % of resamples have.`;
  return reliability === "DOUBTFUL" ? `${from} ${estimate} Doubtful, so the line is dashed: ${reason}` : `${from} ${estimate}`;
}
