// What went wrong, in words and by part of the page, until that part succeeds or the page goes elsewhere.

import { element } from "./html.js";

/**
 * @param {HTMLElement} place  which tells screen readers of its changes
 * @param {() => void} retry
 */
export function problemList(place, retry) {
  const told = new Map(); // part → what there is to tell of it
  const button = element("button", "Try again");
  button.type = "button";
  button.addEventListener("click", () => retry());

  /** Changes no more than has changed: screen readers hear of no more, and the button keeps its focus. */
  function draw() {
    const texts = new Set([...told.values()].flatMap(({ texts }) => texts));
    for (const paragraph of place.querySelectorAll("p")) {
      if (!texts.delete(paragraph.textContent)) {
        paragraph.remove();
      }
    }
    place.prepend(...[...texts].map((text) => element("p", text)));
    const canRetry = [...told.values()].some(({ canRetry }) => canRetry);
    if (!canRetry) {
      button.remove();
    } else if (!button.isConnected) {
      place.append(button);
    }
  }

  return {
    /** Tells what is wrong with a part, in place of what was told of it before; with no text, nothing is. */
    tell(part, texts, { canRetry = false } = {}) {
      if (texts.length) {
        told.set(part, { texts, canRetry });
      } else {
        told.delete(part);
      }
      draw();
    },
  };
}
