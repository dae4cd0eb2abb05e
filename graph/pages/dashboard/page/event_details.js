// The event that is selected, in full.

import { coordinates, kilometres, magnitude, time } from "./format.js";
import { element } from "./html.js";

/**
 * @param {HTMLElement} place
 * @param {import("./documents.js").QuakeEvent} event
 */
export function showDetails(place, event) {
  const list = document.createElement("dl");
  for (const [term, value] of [
    ["Magnitude", magnitude(event.mag)],
    ["Where", event.place],
    ["Time", `${time(event.eventTsMs)} UTC`],
    ["Depth", kilometres(event.depth)],
    ["Coordinates", coordinates(event)],
    ["Type", event.type ?? "not known"],
    ["Id", event.eventId],
  ]) {
    list.append(element("dt", term), element("dd", value));
  }
  const link = usgsLink(event, "The event at USGS");
  place.replaceChildren(list, ...(link ? [link] : []));
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
