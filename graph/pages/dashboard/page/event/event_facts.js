// What there is to say of an event: its heading, its badge and its facts. Its page and its card on the dashboard share it.

import { coordinates, count, counted, decimal, magnitude } from "../format.js";
import { element } from "../html.js";
import { alert, chosenTime, depth, intensity, times } from "./event_words.js";
import { zone } from "../preferences.js";

const SIZES = [2.5, 4, 5, 6, 7]; // the magnitudes at which a badge changes its colour

/** M 5.5 earthquake, Java, Indonesia */
export const title = ({ mag, type, place }) => `M ${magnitude(mag)} ${type ?? "event"}, ${place}`;

/** The magnitude, coloured by its size. */
export function badge({ mag, magType }) {
  const size = 1 + SIZES.filter((least) => mag >= least).length;
  const made = element("span", "", `badge size-${size}`);
  made.append(element("span", "Magnitude ", "unseen"), element("strong", magnitude(mag)));
  if (magType) {
    made.append(element("span", ` ${magType}`, "type"));
  }
  return made;
}

/** Where and when it was: terms and values. */
export function whereAndWhen(event) {
  const { utc, local, epicentre } = times(event.eventTsMs, event.lon);
  const both = [["Time", utc], ...(local ? [["Your time", local]] : [])];
  return [
    ["Place", event.place],
    ...(zone() === "local" ? both.reverse() : both),
    ["At the epicentre", epicentre],
    ["Depth", depth(event.depth)],
    ["Coordinates", coordinates(event)],
  ];
}

/** What it did, as far as the source says so. */
export function effects({ felt, cdi, mmi, alert: level, tsunami }) {
  return known([
    ["Felt reports at USGS", felt, count],
    ["Intensity, by USGS's reports", cdi, intensity],
    ["Intensity, by ShakeMap", mmi, intensity],
    ["PAGER alert", level, alert],
    ["Tsunami", tsunami, (is) => (is ? "a tsunami message was linked to it" : "no tsunami message")],
  ]);
}

/** What people have reported here, for a comparison with what they have reported to USGS. */
export function feltHere({ reports, cdi, usgsCdi, cells }) {
  if (!reports) {
    return [];
  }
  const strength = cdi === null ? "intensity not known" : `intensity ${intensity(cdi)}`;
  return [
    ["Felt here", `${strength}, by ${counted(reports, "report")} from ${counted(cells.length, "place")}`],
    ...(usgsCdi === null ? [["Intensity, by USGS's reports", "not known"]] : []), // otherwise it is among the effects
  ];
}

/** How well it is known. */
export function quality({ status, magType, nst, gap, rms, dmin, sources, updatedAt }) {
  return known([
    ["Status", status],
    ["Type of magnitude", magType],
    ["Stations", nst, count],
    ["Widest angle without a station", gap, (degrees) => `${decimal(degrees, 0)}°`],
    ["Nearest station", dmin, (degrees) => `${decimal(degrees, 2)}°`],
    ["Residuals of travel times, RMS", rms, (seconds) => `${decimal(seconds, 2)} s`],
    ["Networks", sources?.join(", ")],
    ["Last change at USGS", updatedAt && Date.parse(updatedAt), chosenTime],
  ]);
}

/** Writes terms and values into a list, in place of what it had. */
export function write(list, facts) {
  list.replaceChildren(...facts.flatMap(([term, value]) => [element("dt", term), element("dd", value)]));
}

/** A link to the event's page at USGS, if it has one. Its address came with the event: only the web's are followed. */
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

function known(facts) {
  return facts
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([term, value, wording = String]) => [term, wording(value)]);
}
