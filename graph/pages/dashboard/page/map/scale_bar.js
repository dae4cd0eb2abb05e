// The scale of the map: a bar of a round length, in kilometres or miles.

import { count } from "../format.js";
import { element } from "../html.js";

const MOST_PX = 110;
const EQUATOR_M = 40_075_016.686;
const TILE_PX = 512;
const METRES = { km: 1000, mi: 1609.344 };

/** @param {HTMLElement} place */
export function scaleBar(place) {
  const bar = element("div", "", "scale-bar");
  place.append(bar);
  return {
    /** Shows the scale in the middle of a map. */
    show(lat, zoom, units) {
      const metresPerPx = (EQUATOR_M * Math.cos((lat * Math.PI) / 180)) / (TILE_PX * 2 ** zoom);
      const length = roundBelow((MOST_PX * metresPerPx) / METRES[units]);
      bar.style.width = `${((length * METRES[units]) / metresPerPx).toFixed(1)}px`;
      const text = `${length < 1 ? length : count(length)} ${units}`;
      if (bar.textContent !== text) {
        bar.textContent = text;
      }
    },
  };
}

/** The greatest of 1, 2, 5, 10, … that is no more than a value. */
function roundBelow(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [5, 2, 1].find((each) => each * power <= value * 1.000001);
  return Number((factor * power).toPrecision(3));
}
