// The list of sightings. An item is made once and stays in its place, so that focus stays where it is while it fades.

import { confidence, freshness } from "./confidence.js";
import { element } from "../html.js";
import { area, category, confirmed, reported, state, title } from "./sighting_words.js";

/**
 * @param {HTMLElement} section
 * @param {(sighting: import("../documents.js").Sighting) => void} onConfirm
 */
export function sightingList(section, onConfirm) {
  const list = section.querySelector("ol");
  const none = section.querySelector(".none");
  const items = new Map(); // sightingId → {item, show}

  function remove(sightingId) {
    const { item } = items.get(sightingId);
    const hadFocus = item.contains(document.activeElement);
    item.remove();
    items.delete(sightingId);
    if (hadFocus) {
      section.focus({ preventScroll: true });
    }
  }

  return {
    /**
     * @param {import("../documents.js").Sighting[]} sightings  newest first
     * @param {number} now  epoch milliseconds
     * @param {(sighting: import("../documents.js").Sighting) => boolean} mayConfirm
     */
    show(sightings, now, mayConfirm) {
      const shown = new Set(sightings.map(({ sightingId }) => sightingId));
      [...items.keys()].filter((sightingId) => !shown.has(sightingId)).forEach(remove);
      let next = list.firstElementChild;
      for (const sighting of sightings) {
        const { sightingId } = sighting;
        if (!items.has(sightingId)) {
          items.set(sightingId, makeItem(sighting, onConfirm));
          list.insertBefore(items.get(sightingId).item, next);
        } else {
          next = items.get(sightingId).item.nextElementSibling;
        }
        items.get(sightingId).show(sighting, now, mayConfirm(sighting));
      }
      none.hidden = sightings.length > 0;
    },
    /** Brings a sighting into view. */
    select(sightingId) {
      const item = items.get(sightingId)?.item;
      item?.focus();
      item?.scrollIntoView({ block: "nearest" });
    },
  };
}

function makeItem(sighting, onConfirm) {
  let shown = sighting;
  const item = element("li");
  item.dataset.sightingId = sighting.sightingId;
  item.tabIndex = -1; // a ring on the map leads here
  const what = element("p", "", "what");
  what.append(element("strong", category(sighting.category)), ` ${area(sighting)}`);
  const look = element("p");
  const facts = element("p", "", "facts");
  const button = element("button", "I see it, too");
  button.type = "button";
  button.ariaLabel = `I see it, too: ${title(sighting)}`;
  button.addEventListener("click", () => onConfirm(shown));
  item.append(what, look, ...(sighting.text ? [element("p", sighting.text, "text")] : []), facts);
  return {
    item,
    show(sighting, now, mayConfirm) {
      shown = sighting;
      look.className = `state ${freshness(confidence(sighting, now))}`;
      write(look, state(sighting, now));
      write(facts, `${reported(sighting)}, ${confirmed(sighting)}.`);
      if (mayConfirm !== item.contains(button)) {
        toggle(item, button, mayConfirm);
      }
    },
  };
}

/** Adds or removes a button. Focus on one that goes moves to its item. */
function toggle(item, button, isThere) {
  const hadFocus = button === document.activeElement;
  if (isThere) {
    item.append(button);
  } else {
    button.remove();
  }
  if (hadFocus) {
    item.focus();
  }
}

function write(place, text) {
  if (place.textContent !== text) {
    place.textContent = text;
  }
}
