// How an estimate is written, so that it claims no more than is known.

import { decimal } from "../format.js";

/** Two significant digits of an uncertainty, and the estimate to the same place: 0.824 ± 0.043. */
export function uncertain(value, uncertainty) {
  const digits = placesOf(uncertainty);
  return `${decimal(value, digits)} ± ${decimal(uncertainty, digits)}`;
}

/** The decimal places that show two significant digits of an uncertainty. */
export function placesOf(uncertainty) {
  const first = Math.floor(Math.log10(Number(uncertainty.toPrecision(2))));
  return Math.max(0, 1 - first);
}
