// How much a sighting can be trusted at a time, by the service's own formula. So sightings fade on the page, and nothing
// has to be asked for again:
//
//     confidence = (expiresAt − now) / lifetime + min(0.1 · confirmations, 0.3) + trust, at least 0 and at most 1

const PER_CONFIRMATION = 0.1;
const MOST_BY_CONFIRMATIONS = 0.3;
const TRUST = { BRONZE: 0, SILVER: 0.05, GOLD: 0.1 };
const FRESH_ABOVE = 0.66;
const STALE_BELOW = 0.33;

/**
 * @param {import("../documents.js").Sighting} sighting
 * @param {number} now  epoch milliseconds
 * @returns {number} 0 … 1; 0 once it has expired
 */
export function confidence({ expiresAt, confirmations, reporterTier, confidence: { lifetimeSeconds } }, now) {
  const left = Date.parse(expiresAt) - now;
  if (left <= 0) {
    return 0;
  }
  const lifetime = Math.min(1, left / (1000 * lifetimeSeconds));
  const total = lifetime + Math.min(PER_CONFIRMATION * confirmations, MOST_BY_CONFIRMATIONS) + TRUST[reporterTier];
  return Math.min(1, Number(total.toFixed(12))); // else 0.03 + 0.3 is below 0.33
}

/** @returns {"fresh" | "fading" | "stale"} how fresh a sighting of that confidence looks */
export function freshness(confidence) {
  return confidence > FRESH_ABOVE ? "fresh" : confidence < STALE_BELOW ? "stale" : "fading";
}
