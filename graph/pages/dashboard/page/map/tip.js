// What is under the pointer, in a line beside it.

import { counted, magnitude, minute } from "../format.js";
import { element } from "../html.js";

const GAP_PX = 12;

/** @param {HTMLElement} frame */
export function tip(frame) {
  const box = element("div", "", "tip");
  box.hidden = true;
  box.ariaHidden = "true"; // the list of events says the same
  frame.append(box);
  return {
    /** Shows lines of text beside a place of the frame, px; the first is the title. */
    show(lines, { x, y }) {
      box.replaceChildren(...lines.map((line, at) => element(at ? "span" : "strong", line)));
      box.hidden = false;
      const { clientWidth: width, clientHeight: height } = frame;
      const right = x + GAP_PX;
      box.style.left = `${right + box.offsetWidth <= width ? right : Math.max(0, x - GAP_PX - box.offsetWidth)}px`;
      box.style.top = `${Math.max(0, Math.min(y + GAP_PX, height - box.offsetHeight))}px`;
    },
    hide() {
      box.hidden = true;
    },
  };
}

/** What the tip says of an event. */
export const eventLines = ({ mag, place, eventTsMs }) => [`M ${magnitude(mag)}`, place, minute(eventTsMs)];

/** What the tip says of the events of an area. */
export const clusterLines = ({ count, greatest }, noun) => [
  counted(count, noun),
  ...(greatest === null ? [] : [`the largest of magnitude ${magnitude(greatest)}`]),
];
