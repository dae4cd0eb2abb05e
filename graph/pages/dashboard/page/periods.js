// The periods that people choose, as time ranges. A period ends now. Where the newest event is older than the period, it
// ends with that event: of a catalogue that is not kept up, something is shown, and the page says how old it is.

const HOUR = 3_600_000;
const LENGTHS = { hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR, month: 30 * 24 * HOUR };

/**
 * The filter with the time range of a period.
 *
 * @param {object} filter  an EventFilter
 * @param {string} period  "hour", "day", "week", "month" or "all", which leaves the filter as it is
 * @param {?number} newest  the time of the newest event, epoch milliseconds; null if there is none
 * @param {number} now
 * @returns {{filter: object, end: ?number}} `end` is the newest event's time if the period ends with it
 */
export function inPeriod(filter, period, newest, now) {
  const length = LENGTHS[period];
  if (!length || newest === null) {
    return { filter, end: null };
  }
  const end = now - newest > length ? newest : null;
  return { filter: { ...filter, startTime: new Date((end ?? now) - length).toISOString() }, end };
}

/**
 * The time range of the axes: that of the filter where it has one, else that of the events and of now.
 *
 * @param {object} filter
 * @param {[number, number]} times  the first and the last event's
 * @param {?number} end  where a period ends, if that is not now
 * @returns {?{from: number, to: number}} epoch milliseconds; null if there is nothing
 */
export function axisRange({ startTime, endTime }, [first, last], end) {
  const from = startTime ? Date.parse(startTime) : first;
  const to = endTime ? Date.parse(endTime) : Math.max(end ?? Date.now(), last);
  return Number.isFinite(from) && Number.isFinite(to) ? { from, to } : null;
}
