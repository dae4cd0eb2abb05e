// What the page says of sightings, in plain words.

import { confidence, freshness } from "./confidence.js";
import { coordinates, count, minute } from "../format.js";

/** POWER_OUTAGE → Power outage */
export const category = (name) => capital(name.toLowerCase().replaceAll("_", " "));

/** The area of a sighting: its name as far as the slug tells it, or the coordinates of an area that is only a cell. */
export function area({ area, position }) {
  return area.startsWith("km10-") && position ? coordinates(position) : area.split("-").map(capital).join(" ");
}

/** Shaking, Downtown */
export const title = (sighting) => `${category(sighting.category)}, ${area(sighting)}`;

/** Fresh, 87 % */
export function state(sighting, now) {
  const trusted = confidence(sighting, now);
  return `${capital(freshness(trusted))}, ${Math.round(100 * trusted)} %`;
}

/** 14:30 UTC, of a time that is less than a day away */
const clock = (time) => minute(Date.parse(time)).slice("2023-08-04 ".length);

export const until = ({ expiresAt }) => `until ${clock(expiresAt)}`;

export const reported = ({ reportedAt, own }) => `Reported ${own ? "by you " : ""}at ${clock(reportedAt)}`;

export const confirmed = ({ confirmations }) => (confirmations ? `confirmed by ${count(confirmations)}` : "not confirmed yet");

/** What others have reported, in a sentence. */
export function news(sightings) {
  const [newest] = sightings;
  return sightings.length === 1 ? `New: ${title(newest)}.` : `${sightings.length} new reports, the last of ${title(newest)}.`;
}

/** What has become of a report, in sentences. */
export function outcome({ sighting, created, confirmed }) {
  if (created) {
    return `Reported: ${title(sighting)}. It is shown ${until(sighting)}, and longer if others confirm it.`;
  }
  return confirmed
    ? `Others have reported this: your report counts as a confirmation of “${title(sighting)}”.`
    : `You have reported or confirmed this already: ${title(sighting)}.`;
}

function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
