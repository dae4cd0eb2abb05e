// What the map shows, in words.

import { count, counted, magnitude } from "../format.js";

/**
 * @param {object} shown
 * @param {number} shown.total  of events, shown or not
 * @param {?import("../documents.js").QuakeEvent} shown.largest  of all of them; null if it is not known
 * @param {number} shown.drawn  how many are drawn one by one
 * @param {?import("./view_query.js").Answer} shown.answer  to what the view holds; null if all events are drawn
 * @param {string} shown.noun  what the service counts by areas: "event" or "earthquake"
 * @param {number} shown.sightings
 */
export function caption({ total, largest, drawn, answer, noun, sightings }) {
  const ringed = sightings ? ` ${counted(sightings, "report")} by people as rings.` : "";
  if (!total) {
    return `No event to show.${ringed}`;
  }
  const greatest = largest ? `; the largest of magnitude ${magnitude(largest.mag)}, ${largest.place}` : "";
  return `${counted(total, "event")}${greatest}.${part(drawn, answer, noun)}${ringed}`;
}

/** Which part of the events the map draws. */
function part(drawn, answer, noun) {
  if (!answer) {
    return "";
  }
  if (answer.events) {
    return ` This view has ${counted(answer.events.length, "event")} of them, all shown one by one.`;
  }
  const largest = `the largest ${count(drawn)} of this view`;
  return answer.reason
    ? ` Shown are ${largest}. The others cannot be counted by area: ${answer.reason}`
    : ` Shown one by one are ${largest}; the numbers count the ${noun}s of each area.`;
}
