// Asks the service what a view of the map holds: its events one by one where they are few, or their number by cells.
//
// The service counts by cells what it can read at once. Of more events, it is asked for one part of the time after the
// other, and the counts are added.

import { EVENTS, VIEW } from "../documents.js";
import { ask, Refused } from "../graph.js";

const MOST_EVENTS = 2000; // that are drawn one by one
const MOST_PARTS = 8; // of the time, each a query of its own
const MOST_COUNTED = 200_000; // events in all parts, of which the service reads 30,000 at once
const TOO_MUCH = "QUERY_TOO_COMPLEX";

/**
 * What there is in a view.
 *
 * @typedef {object} Cell
 * @property {number} lat  its southern edge, degrees north
 * @property {number} lon  its western edge, degrees east
 * @property {number} count
 * @property {number} greatest  magnitude
 *
 * @typedef {{events: import("../documents.js").QuakeEvent[]} | {cells: Cell[], total: number, reason: ?string}} Answer
 */

/**
 * @param {object} filter  an EventFilter with a time
 * @param {number} degrees  of a cell
 * @param {number} pageSize
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export async function askView(filter, degrees, pageSize, signal) {
  const parts = await counted(filter, degrees, signal);
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  if (total <= MOST_EVENTS && parts.every(({ isCounted }) => isCounted)) {
    return { events: await allEvents(filter, pageSize, signal) };
  }
  const reason = parts.find((part) => part.reason)?.reason ?? null;
  return { cells: reason ? [] : added(parts.flatMap(({ cells }) => cells)), total, reason };
}

/** The counts of a filter, in as many parts of its time as it takes. */
async function counted(filter, degrees, signal) {
  const waiting = [filter];
  const parts = [];
  while (waiting.length) {
    const next = waiting.shift();
    const part = await askPart(next, degrees, signal);
    const mayHalve = part.reason && part.total <= MOST_COUNTED && parts.length + waiting.length + 2 <= MOST_PARTS;
    const halves = mayHalve ? halved(next) : null;
    if (halves) {
      waiting.push(...halves);
    } else {
      parts.push(part);
    }
  }
  return parts;
}

async function askPart(filter, degrees, signal) {
  try {
    const { events, catalogueStatistics } = await ask(VIEW, { filter, degrees }, signal);
    const { cells, reason } = catalogueStatistics.grid;
    return { cells, reason, total: events.totalCount, isCounted: true };
  } catch (error) {
    if (error instanceof Refused && error.code === TOO_MUCH) {
      return { cells: [], reason: error.message, total: 0, isCounted: false };
    }
    throw error;
  }
}

/** The two halves of a filter's time; null if it has no beginning. An event lies in one of them. */
function halved(filter) {
  const start = Date.parse(filter.startTime ?? "");
  const end = filter.endTime ? Date.parse(filter.endTime) : Date.now();
  const middle = Math.floor((start + end) / 2);
  if (!(middle > start)) {
    return null;
  }
  const at = (ms) => new Date(ms).toISOString();
  return [{ ...filter, endTime: at(middle - 1) }, { ...filter, startTime: at(middle) }];
}

async function allEvents(filter, first, signal) {
  const found = [];
  let after = null;
  let more = true;
  while (more) {
    const { events } = await ask(EVENTS, { filter, orderBy: "MAGNITUDE_DESC", first, after }, signal);
    found.push(...events.nodes);
    after = events.pageInfo.endCursor;
    more = events.pageInfo.hasNextPage;
  }
  return found;
}

/** The cells of all parts, each once. */
function added(cells) {
  const found = new Map();
  for (const { lat, lon, count, greatest } of cells) {
    const place = `${lat} ${lon}`;
    const before = found.get(place) ?? { count: 0, greatest };
    found.set(place, {
      lat,
      lon,
      count: before.count + count,
      greatest: Math.max(before.greatest, greatest),
    });
  }
  return [...found.values()];
}
