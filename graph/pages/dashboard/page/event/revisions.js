// The versions of an event: a table of what changed and when, and a plot of the magnitude if that changed.

import { count, decimal, magnitude, utc } from "../format.js";
import { element } from "../html.js";
import { script, styleSheet } from "../third_party.js";
import { chosenTime } from "./event_words.js";

const KINDS = {
  CREATED: "First version here",
  REVISED: "Revised",
  RENAMED: "The source prefers another id",
  MERGED: "Merged into another event",
  DELETED: "Deleted by its source",
  RESTORED: "Restored by its source",
};

/** What the page calls the fields of an event, and how it writes their values. */
const FIELDS = {
  mag: ["magnitude", magnitude],
  magType: ["type of magnitude", String],
  depth: ["depth", (km) => `${decimal(km, 1)} km`],
  sourceDepth: ["depth at the source", (km) => `${decimal(km, 1)} km`],
  lat: ["latitude", (degrees) => `${decimal(degrees, 3)}°`],
  lon: ["longitude", (degrees) => `${decimal(degrees, 3)}°`],
  eventTsMs: ["time", (ms) => `${utc(ms)} UTC`],
  place: ["place", String],
  type: ["type", String],
  status: ["status", String],
  alert: ["alert", String],
  tsunami: ["tsunami", (is) => (is ? "yes" : "no")],
  preferredId: ["preferred id", String],
};

/**
 * @param {HTMLElement} section
 * @param {number} total  how many versions there are
 * @param {object[]} versions  EventRevisions, the last ones, in order
 */
export async function showRevisions(section, total, versions) {
  const left = total - versions.length;
  section.querySelector("caption").textContent = left > 0 ? `The last ${count(versions.length)} of ${count(total)}` : "";
  section.querySelector("tbody").replaceChildren(...versions.map(row).reverse());
  const place = section.querySelector(".plot");
  place.hidden = new Set(versions.map(({ event }) => event.mag)).size < 2;
  if (!place.hidden) {
    await plot(place, versions);
  }
}

const published = ({ publishedAt, recordedAt }) => Date.parse(publishedAt ?? recordedAt);

function row(version) {
  const made = element("tr");
  const number = element("th", String(version.number), "number");
  number.scope = "row";
  const changed = element("td", KINDS[version.kind]);
  const changes = version.changes.map(change);
  if (changes.length) {
    changed.append(": ", changes.join("; "));
  }
  made.append(
    number,
    when(published(version)),
    element("td", magnitude(version.event.mag), "number"),
    changed,
  );
  return made;
}

/** A time that breaks between its day and its hour, if it has to. */
function when(ms) {
  const [day, ...rest] = chosenTime(ms).split(" ");
  const cell = element("td", "", "time");
  cell.append(element("span", day), " ", element("span", rest.join(" ")));
  return cell;
}

/** depth 10.0 km → 12.3 km */
function change({ field, before, after }) {
  const [name, wording] = FIELDS[field] ?? [field, String];
  const written = [before, after].map((value) => (value === null ? "none" : wording(value)));
  const [from, to] = written[0] === written[1] ? [before, after] : written; // less than what rounding leaves
  return `${name} ${from} → ${to}`;
}

/** Draws the magnitude in time as steps: a version holds until the next one. */
async function plot(place, versions) {
  const magnitudes = versions.map(({ event }) => event.mag);
  place.setAttribute("aria-label", `Magnitude by version: ${magnitudes.map(magnitude).join(", ")}`);
  await Promise.all([script("uplot.min.js"), styleSheet("uplot.css")]);
  const colour = (name) => getComputedStyle(place).getPropertyValue(name).trim();
  const { uPlot } = globalThis;
  const look = { stroke: colour("--faint"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  const minutes = (self, splits) => splits.map((seconds) => utc(1000 * seconds).slice(5, 16));
  const data = [versions.map((version) => published(version) / 1000), magnitudes];
  place.drawn?.destroy();
  place.drawn = new uPlot(
    {
      width: place.clientWidth,
      height: 140,
      legend: { show: false },
      cursor: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
      axes: [
        { ...look, space: 110, values: minutes },
        { ...look, size: 44, values: (self, splits) => splits.map(magnitude) },
      ],
      scales: { y: { range: (self, least, most) => [least - 0.1, most + 0.1] } },
      series: [
        {},
        {
          stroke: colour("--mark"),
          width: 2,
          paths: uPlot.paths.stepped({ align: 1 }),
          points: { show: true, size: 7, fill: colour("--mark") },
        },
      ],
    },
    data,
    place,
  );
}
