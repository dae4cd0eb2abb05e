// How the facts of an event are written: distances in the chosen units, times in three zones, intensities with names.

import { count, decimal, utc } from "../format.js";
import { units, zone } from "../preferences.js";

const KM_PER_MILE = 1.609344;
const MINUTE = 60_000;

/** The names of the degrees of Modified Mercalli Intensity: https://earthquake.usgs.gov/data/shakemap/background.php */
const INTENSITIES = [
  ["I", "not felt"],
  ["II", "weak"],
  ["III", "weak"],
  ["IV", "light"],
  ["V", "moderate"],
  ["VI", "strong"],
  ["VII", "very strong"],
  ["VIII", "severe"],
  ["IX", "violent"],
  ["X", "extreme"],
];

/** Expected losses by PAGER's alert levels: https://earthquake.usgs.gov/data/pager/onepager.php */
const ALERTS = {
  green: "no damage or casualties expected",
  yellow: "limited damage or casualties",
  orange: "significant damage or casualties",
  red: "extensive damage and casualties",
};

/** 10.0 km, or 6.2 mi where miles were chosen. */
export function distance(km, digits = 1) {
  return units() === "mi" ? `${grouped(km / KM_PER_MILE, digits)} mi` : `${grouped(km, digits)} km`;
}

/** The depth in the chosen units, and then in the other ones: it is often quoted in either. */
export function depth(km) {
  if (km === null) {
    return "not measured";
  }
  const texts = [`${decimal(km, 1)} km`, `${decimal(km / KM_PER_MILE, 1)} mi`];
  const [first, second] = units() === "mi" ? texts.reverse() : texts;
  return `${first} (${second})`;
}

/** VI (5.6), strong */
export function intensity(value) {
  const [numeral, name] = INTENSITIES[Math.min(Math.max(Math.round(value), 1), INTENSITIES.length) - 1];
  return `${numeral} (${decimal(value, 1)}), ${name}`;
}

/** green: no damage or casualties expected */
export const alert = (level) => (level in ALERTS ? `${level}: ${ALERTS[level]}` : level);

/**
 * A time in UTC, where the reader is, and at the epicentre. The last one is by the nautical time zone, which follows from
 * the longitude alone: clocks there may differ by an hour or two.
 *
 * @returns {{utc: string, local: ?string, epicentre: string}}  null where the reader's time is UTC
 */
export function times(ms, lon) {
  const offset = -new Date(ms).getTimezoneOffset();
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return {
    utc: `${utc(ms)} UTC`,
    local: name === "UTC" ? null : `${shifted(ms, offset)}, ${name}`,
    epicentre: `${shifted(ms, 60 * Math.round(lon / 15))}, nautical time zone`,
  };
}

/** A time in the chosen zone. */
export function chosenTime(ms) {
  return zone() === "local" ? shifted(ms, -new Date(ms).getTimezoneOffset()) : `${utc(ms)} UTC`;
}

/** 2 days before, of something that was so much earlier than something else; 3 hours after, if that is negative */
export function earlier(ms) {
  const minutes = Math.round(Math.abs(ms) / MINUTE);
  const [number, noun] =
    minutes < 120
      ? [minutes, "minute"]
      : minutes < 48 * 60
        ? [Math.round(minutes / 60), "hour"]
        : [Math.round(minutes / 1440), "day"];
  return `${number} ${noun}${number === 1 ? "" : "s"} ${ms < 0 ? "after" : "before"}`;
}

/** 2023-08-04 02:31:44 UTC+2 */
function shifted(ms, minutes) {
  const size = Math.abs(minutes);
  const rest = size % 60 ? `:${String(size % 60).padStart(2, "0")}` : "";
  const offset = size ? `${minutes < 0 ? "−" : "+"}${Math.floor(size / 60)}${rest}` : "";
  return `${utc(ms + minutes * MINUTE)} UTC${offset}`;
}

function grouped(value, digits) {
  return digits ? decimal(value, digits) : count(Math.round(value));
}
