// What the page says of the events that it shows, and of those that arrive, in sentences.

import { count, counted, magnitude, minute } from "./format.js";

/**
 * How many events there are, and how many of them are shown.
 *
 * @param {?object} filter  an EventFilter; null where not even its time could be asked for
 * @param {number} shown
 * @param {?number} [total]  none where it is not known
 */
export function summary(filter, shown, total) {
  const isKnown = total !== null && total !== undefined;
  if (!filter || (!shown && !isKnown)) {
    return "The events could not be loaded.";
  }
  if (!shown && total === 0) {
    return Object.keys(filter).length
      ? "No event matches these filters."
      : "The catalogue is empty. `quakegraph ingest --feed ALL_WEEK` fills it with the events of the past week, " +
          "and this page shows them as they are stored.";
  }
  // Arrivals are counted later than they are shown.
  const all = isKnown ? counted(Math.max(total, shown), "event") : `${count(shown)} events or more`;
  const since = filter.startTime ? ` since ${minute(Date.parse(filter.startTime))}` : "";
  const until = filter.endTime ? ` until ${minute(Date.parse(filter.endTime))}` : "";
  const part = shown && total > shown ? ` The map and the plot in time show the newest ${count(shown)}.` : "";
  return `${all}${since}${until}.${part}`;
}

/** What has arrived, in a sentence. */
export function arrivals(events) {
  const largest = events.reduce((one, other) => (other.mag > one.mag ? other : one));
  const what = `magnitude ${magnitude(largest.mag)}, ${largest.place}, ${minute(largest.eventTsMs)}`;
  return events.length === 1 ? `New: ${what}.` : `${count(events.length)} new events, the largest of ${what}.`;
}
