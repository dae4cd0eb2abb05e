// What the page says of the events that it shows, and of those that arrive, in sentences.

import { count, counted, magnitude, minute, place, relative } from "./format.js";

/**
 * How many events there are, since when, and the largest of them.
 *
 * @param {?object} filter  an EventFilter; null where not even its time could be asked for
 * @param {?number} end  where the period ends, if that is with the newest event, epoch milliseconds
 * @param {number} shown
 * @param {number} [total]  none where it is not known
 * @param {object} [largest]
 */
export function summary(filter, end, shown, total, largest) {
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
  const until = filter.endTime ? ` until ${minute(Date.parse(filter.endTime))}` : end === null ? "" : `, up to the newest one`;
  const most = largest ? ` The largest: M ${magnitude(largest.mag)}, ${place(largest.place)}.` : "";
  return `${all}${since}${until}.${most}`;
}

/** The state of the subscription, and how fresh what it brings is. */
export function connection(state, newest, now) {
  const texts = {
    connecting: () => "Connecting…",
    live: () => (newest === null ? "Live" : `Live, newest event ${relative(newest, now)}`),
    waiting: ({ seconds, reason }) => `Reconnecting in ${Math.ceil(seconds)} s: ${reason}`,
    off: ({ reason }) => `Not live: ${reason}`,
  };
  return texts[state.name](state);
}

/** What has arrived, in a sentence. */
export function arrivals(events) {
  const largest = events.reduce((one, other) => (other.mag > one.mag ? other : one));
  const what = `magnitude ${magnitude(largest.mag)}, ${place(largest.place)}, ${minute(largest.eventTsMs)}`;
  return events.length === 1 ? `New: ${what}.` : `${count(events.length)} new events, the largest of ${what}.`;
}
