// Asks the service what a view of the map holds: its events one by one where they are few, or their number by cells.
//
// The service counts by cells what it can read at once; of the whole world, any number of events by wide cells. Of more
// events elsewhere, it is asked for one part of the time after the other, and the counts are added.

import { EVENTS, VIEW } from "../documents.js";
import { ask, Refused } from "../graph.js";
import { cellDegrees } from "./view_box.js";

const MOST_EVENTS = 2000; // that are drawn one by one
const MOST_PARTS = 8; // of the time, each a query of its own
const MOST_COUNTED = 200_000; // events in all parts, of which the service reads 30,000 at once
const WIDE = 10; // degrees of a cell by which the service counts more than it reads
const TOO_MUCH = "QUERY_TOO_COMPLEX";

/**
 * What there is in a view.
 *
 * @typedef {object} Cell
 * @property {number} lat  its southern edge, degrees north
 * @property {number} lon  its western edge, degrees east
 * @property {number} count
 * @property {?number} greatest  magnitude, where the service has read the events
 *
 * @typedef {{events: import("../documents.js").QuakeEvent[]} | Counts} Answer
 *
 * @typedef {object} Counts
 * @property {Cell[]} cells
 * @property {number} degrees  of a cell
 * @property {number} total
 * @property {?string} reason  why there are no cells
 */

/**
 * @param {object} filter  an EventFilter with a time
 * @param {number} ofAreas  degrees of an area, whose cells are counted together
 * @param {number} pageSize
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export async function askView(filter, ofAreas, pageSize, signal) {
  const degrees = cellDegrees(ofAreas);
  const whole = await askPart(filter, degrees, signal);
  if (whole.reason && whole.isCounted && !filter.box && ofAreas % WIDE === 0) {
    const { cells, total, reason } = await askPart(filter, WIDE, signal);
    if (!reason) {
      return { cells, degrees: WIDE, total, reason };
    }
  }
  const parts = await divided(filter, whole, degrees, signal);
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  if (total <= MOST_EVENTS && parts.every(({ isCounted }) => isCounted)) {
    return { events: await allEvents(filter, pageSize, signal) };
  }
  const reason = parts.find((part) => part.reason)?.reason ?? null;
  return { cells: reason ? [] : added(parts.flatMap(({ cells }) => cells)), degrees, total, reason };
}

/** The counts of a filter, in as many parts of its time as it takes, the first of which is the whole. */
async function divided(filter, whole, degrees, signal) {
  const waiting = [filter];
  const parts = [];
  while (waiting.length) {
    const next = waiting.shift();
    const part = next === filter ? whole : await askPart(next, degrees, signal);
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
      greatest: Math.max(before.greatest, greatest), // parts are counted in narrow cells, which have one
    });
  }
  return [...found.values()];
}
