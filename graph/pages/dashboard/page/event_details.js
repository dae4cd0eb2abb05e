// The event that is selected, in full.

import { coordinates, counted, decimal, kilometres, magnitude, time } from "./format.js";
import { element } from "./html.js";

/**
 * @param {HTMLElement} place
 * @param {import("./documents.js").QuakeEvent} event
 * @returns {HTMLDListElement} what is said of it
 */
export function showDetails(place, event) {
  const list = document.createElement("dl");
  describe(list, [
    ["Magnitude", magnitude(event.mag)],
    ["Where", event.place],
    ["Time", `${time(event.eventTsMs)} UTC`],
    ["Depth", kilometres(event.depth)],
    ["Coordinates", coordinates(event)],
    ["Type", event.type ?? "not known"],
    ["Id", event.eventId],
  ]);
  const link = usgsLink(event, "The event at USGS");
  place.replaceChildren(list, ...(link ? [link] : []));
  return list;
}

/**
 * Adds how strongly people felt the event, if anybody has reported it here.
 *
 * @param {HTMLDListElement} facts
 * @param {object} felt  FeltIntensity
 */
export function addFelt(facts, { reports, cdi, usgsCdi, cells }) {
  if (reports) {
    describe(facts, [
      ["Felt here", `${intensity(cdi)}, by ${counted(reports, "report")} from ${counted(cells.length, "place")}`],
      ["Felt by USGS's reports", intensity(usgsCdi)],
    ]);
  }
}

function intensity(cdi) {
  return cdi === null ? "intensity not known" : `intensity ${decimal(cdi, 1)}`;
}

function describe(list, facts) {
  for (const [term, value] of facts) {
    list.append(element("dt", term), element("dd", value));
  }
}

/** A link to the event's own page, where it has one. Its address came with the event: only the web's are followed. */
export function usgsLink({ url, place }, text) {
  const parsed = url && URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !["https:", "http:"].includes(parsed.protocol)) {
    return null;
  }
  const link = element("a", text);
  link.href = parsed.href;
  link.rel = "noopener noreferrer";
  link.ariaLabel = `${text}: ${place}`;
  return link;
}
