// What went wrong, in words and by part of the page, until that part succeeds or the page goes elsewhere.

import { element } from "./html.js";

/**
 * @param {HTMLElement} place  which tells screen readers of its changes
 * @param {() => void} retry
 */
export function problemList(place, retry) {
  const told = new Map(); // part → what there is to tell of it

  function draw() {
    const texts = new Set([...told.values()].flatMap(({ texts }) => texts));
    place.replaceChildren(...[...texts].map((text) => element("p", text)));
    if ([...told.values()].some(({ canRetry }) => canRetry)) {
      const button = element("button", "Try again");
      button.type = "button";
      button.addEventListener("click", retry);
      place.append(button);
    }
  }

  return {
    tell(part, texts, { canRetry = false } = {}) {
      if (!texts.length && !told.has(part)) {
        return; // screen readers hear of no change where there is none
      }
      told.set(part, { texts, canRetry });
      draw();
    },
    clear() {
      told.clear();
      draw();
    },
  };
}
