// A line of text beside a place of a plot, for what is under the pointer.

import { element } from "../html.js";

/** @param {HTMLElement} over  the area of a plot */
export function tipOver(over) {
  const tip = element("p", "", "tip");
  tip.hidden = true;
  over.append(tip);
  return {
    /** Shows it at px from the left and the top, on the side with more room. */
    show(text, x, y, distance = 8) {
      tip.textContent = text;
      tip.hidden = false;
      const isRight = x < over.clientWidth / 2;
      tip.style.left = isRight ? `${x + distance}px` : "";
      tip.style.right = isRight ? "" : `${over.clientWidth - x + distance}px`;
      tip.style.top = `${Math.max(0, y - tip.offsetHeight - 4)}px`;
    },
    hide() {
      tip.hidden = true;
    },
  };
}
