// The largest events near an event in space and time, each with a link to its own page.

import { LARGEST_NEARBY } from "../documents.js";
import { counted, magnitude } from "../format.js";
import { ask } from "../graph.js";
import { element } from "../html.js";
import { pageOf } from "./event_address.js";
import { chosenTime, distance, earlier } from "./event_words.js";

const RADIUS_KM = 100;
const DAYS = 30;
const MOST = 10;
const EARTH_KM = 6371;
const DAY_MS = 86_400_000;

/**
 * Asks for them.
 *
 * @param {import("../documents.js").QuakeEvent} event
 * @param {AbortSignal} signal
 * @returns {Promise<{events: import("../documents.js").QuakeEvent[], total: ?number}>}
 */
export async function neighboursOf({ eventId, eventTsMs, lat, lon }, signal) {
  const day = (days) => new Date(eventTsMs + days * DAY_MS).toISOString();
  const filter = { circle: { lat, lon, radiusKm: RADIUS_KM }, startTime: day(-DAYS), endTime: day(DAYS) };
  const { events } = await ask(LARGEST_NEARBY, { filter, first: MOST + 1 }, signal);
  const isOther = (other) => other.eventId !== eventId;
  const isHere = events.nodes.length > MOST || !events.nodes.every(isOther); // a deleted event is in no list
  return {
    events: events.nodes.filter(isOther).slice(0, MOST),
    total: events.totalCount === null ? null : events.totalCount - (isHere ? 1 : 0),
  };
}

/**
 * @param {HTMLElement} section
 * @param {import("../documents.js").QuakeEvent} event
 * @param {{events: import("../documents.js").QuakeEvent[], total: ?number}} found
 */
export function showNeighbours(section, event, { events, total }) {
  section.querySelector(".caption").textContent = caption(events.length, total);
  section.querySelector("ol").replaceChildren(...events.map((other) => item(event, other)));
}

function caption(shown, total) {
  const where = `within ${distance(RADIUS_KM, 0)} and ${DAYS} days`;
  if (!shown) {
    return `No other event ${where}.`;
  }
  const all = total === null ? "" : ` of ${counted(total, "other event")}`;
  return shown === total ? `${counted(total, "other event")} ${where}, the largest first.` : `The ${shown} largest${all} ${where}.`;
}

function item(event, other) {
  const made = element("li");
  const link = element("a", `M ${magnitude(other.mag)}, ${other.place}`);
  link.href = pageOf(other.eventId);
  const when = `${chosenTime(other.eventTsMs)}, ${earlier(event.eventTsMs - other.eventTsMs)}`;
  made.append(link, element("span", `${distance(kilometres(event, other), 0)} away, ${when}`, "hint"));
  return made;
}

/** The great-circle distance, by the haversine formula. */
function kilometres(one, other) {
  const radians = (degrees) => (degrees * Math.PI) / 180;
  const half = (from, to) => Math.sin(radians(to - from) / 2) ** 2;
  const cosines = Math.cos(radians(one.lat)) * Math.cos(radians(other.lat));
  return 2 * EARTH_KM * Math.asin(Math.sqrt(half(one.lat, other.lat) + cosines * half(one.lon, other.lon)));
}
