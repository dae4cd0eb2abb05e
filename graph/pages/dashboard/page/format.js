// How numbers, lengths and times are written, in the time zone and the units that people prefer.

import { units, zone } from "./preferences.js";

const COUNT = new Intl.NumberFormat("en");
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });
const KM_PER_MILE = 1.609344;
const SECOND = 1000;
const UNITS = [
  ["year", 365.25 * 24 * 3600 * SECOND],
  ["month", 30.44 * 24 * 3600 * SECOND],
  ["day", 24 * 3600 * SECOND],
  ["hour", 3600 * SECOND],
  ["minute", 60 * SECOND],
];

export const count = (number) => COUNT.format(number);

export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export const decimal = (number, digits) => number.toFixed(digits).replace(/^-/, "−");

export const magnitude = (mag) => decimal(mag, 1);

const clocks = new Map(); // one for each time zone: to make one takes longer than to use it a hundred times

/** The date and the time in the preferred zone: Swedish writes them as ISO 8601 does. */
function clock() {
  if (!clocks.has(zone())) {
    const timeZone = zone() === "UTC" ? "UTC" : undefined; // none means that of the browser
    clocks.set(zone(), {
      time: new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "medium", timeZone }),
      name: new Intl.DateTimeFormat("en", { timeZoneName: "short", timeZone }),
    });
  }
  return clocks.get(zone());
}

/** 2023-08-04 00:31:44 */
export const time = (ms) => clock().time.format(ms);

/** The same in UTC, whatever is preferred. */
export const utc = (ms) => new Date(ms).toISOString().replace("T", " ").slice(0, 19);

/** UTC, or a name such as GMT+2, which may change with the season */
const zoneName = (ms) => clock().name.formatToParts(ms).find(({ type }) => type === "timeZoneName").value;

/** 2023-08-04 00:31 UTC */
export const minute = (ms) => `${time(ms).slice(0, 16)} ${zoneName(ms)}`;

/** 4 min. ago */
export function relative(ms, now) {
  const [unit, length] = UNITS.find(([, length]) => Math.abs(now - ms) >= length) ?? UNITS.at(-1);
  const number = Math.trunc((ms - now) / length);
  return number ? RELATIVE.format(number, unit) : "just now";
}

/** A length in the preferred unit, of kilometres. */
export const length = (km, digits = 1) =>
  units() === "km" ? `${decimal(km, digits)} km` : `${decimal(km / KM_PER_MILE, digits)} mi`;

export const depth = (km) => (km === null ? "not measured" : length(km));

/** The name of a place, whose distance is written in kilometres. */
export const place = (name) =>
  units() === "km" ? name : name.replace(/^(\d+) km /, (_, km) => `${Math.round(km / KM_PER_MILE)} mi `);

/** 38.51° N 122.73° W */
export const coordinates = ({ lat, lon }) =>
  `${Math.abs(lat).toFixed(2)}° ${lat < 0 ? "S" : "N"} ${Math.abs(lon).toFixed(2)}° ${lon < 0 ? "W" : "E"}`;
