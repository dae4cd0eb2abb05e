// The addresses of an event: its own page, and what the service exports of it.

import { address } from "../graph.js";

/** The page of an event. */
export const pageOf = (eventId) => address(`events/${encodeURIComponent(eventId)}`);

/** Where the event can be had in other formats: their names, addresses and files. */
export function exportsOf(eventId) {
  const id = encodeURIComponent(eventId);
  const isInFdsn = "fdsn" in document.documentElement.dataset;
  return [
    ["GeoJSON", address(`export/events.geojson?eventIds=${id}`), "events.geojson"],
    ["CSV", address(`export/events.csv?eventIds=${id}`), "events.csv"],
    ...(isInFdsn ? [["QuakeML", address(`fdsnws/event/1/query?eventid=${id}`), "event.xml"]] : []),
  ];
}
