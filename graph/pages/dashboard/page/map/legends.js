// What the map's colours and sizes mean.

import { element } from "../html.js";
import { circleRadius, sizeFactor } from "./layers.js";
import { svg } from "./svg.js";

const SIZES = [2, 4, 6]; // magnitudes

/**
 * @param {HTMLElement} place
 * @param {import("../scales.js").Colouring} colouring
 * @param {number} width  of the map, px
 * @param {?string} counted  what the numbers of an area count; null if there are none
 */
export function drawLegends(place, colouring, width, counted) {
  const parts = [
    legend(
      colouring.title,
      colouring.classes.map(({ name, label }) => [swatch(name, 6), label]),
      `by-${colouring.name}`,
    ),
    legend(
      "Magnitude",
      SIZES.map((mag) => [swatch("size", circleRadius(mag, sizeFactor(width))), String(mag)]),
    ),
  ];
  if (counted) {
    parts.push(legend("Number", [[swatch("cluster", 8), `${counted} of an area`]]));
  }
  place.replaceChildren(...parts);
}

const swatch = (className, r) =>
  svg(
    "svg",
    { viewBox: `${-r - 1} ${-r - 1} ${2 * r + 2} ${2 * r + 2}`, width: 2 * r + 2, "aria-hidden": "true" },
    svg("circle", { class: className, r }),
  );

function legend(title, entries, className = "") {
  const list = element("ul", "", `legend ${className}`);
  list.ariaLabel = title;
  const heading = element("li", title, "title");
  heading.ariaHidden = "true"; // the list has it as its name
  list.append(heading);
  for (const [mark, label] of entries) {
    const item = element("li");
    item.append(mark, ` ${label}`);
    list.append(item);
  }
  return list;
}
