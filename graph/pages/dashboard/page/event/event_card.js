// The card of an event: its main facts beside what was clicked, while the page below stays usable and in its place.

import { EFFECTS, FELT } from "../documents.js";
import { ask } from "../graph.js";
import { element } from "../html.js";
import { pageOf } from "./event_address.js";
import { badge, effects, feltHere, title, usgsLink, whereAndWhen, write } from "./event_facts.js";
import { onPreferences } from "../preferences.js";
import { shareButton } from "./share.js";

const GAP = 12; // px between the card and what was clicked
const MARGIN = 8; // px between the card and the edges of the window
const IS_SHEET = "(max-width: 39.99rem)"; // as in event.css: then CSS alone places it

/**
 * @typedef {{x: number, y: number, width: number, height: number}} Box  in px of the window
 *
 * @param {{onClose?: (eventId: string) => void}} [callbacks]
 */
export function eventCard({ onClose } = {}) {
  let event = null;
  let effectsOf = {}; // the event: what lists do not show
  let felt = null;
  let anchor = null;
  let restoreFocusTo = null;
  let asking = null;

  const card = element("div", "", "event-card"); // an aside may not be a dialog
  card.role = "dialog";
  card.setAttribute("aria-labelledby", "event-card-title");
  card.tabIndex = -1;
  card.hidden = true;
  const heading = element("div", "", "heading");
  const name = element("h2");
  name.id = "event-card-title";
  const facts = element("dl");
  const actions = element("p", "", "actions");
  const details = element("a", "Details", "details");
  const [share, shared] = shareButton(() => event);
  const dismiss = element("button", "×", "close");
  dismiss.type = "button";
  dismiss.ariaLabel = "Close";
  dismiss.addEventListener("click", close);
  card.append(heading, facts, actions, dismiss);
  addEventListener("keydown", ({ key }) => key === "Escape" && !document.querySelector("dialog[open]") && close());
  addEventListener("resize", place);
  onPreferences(() => event && draw());

  function draw() {
    heading.replaceChildren(badge({ ...event, ...effectsOf }), name);
    name.textContent = title(event);
    const here = felt ? feltHere(felt) : [];
    write(facts, [...whereAndWhen(event).slice(1), ...effects(effectsOf), ...here, ["Id", event.eventId]]);
    details.href = pageOf(event.eventId);
    const usgs = usgsLink(event, "USGS");
    actions.replaceChildren(details, share, ...(usgs ? [usgs] : []), shared);
    place();
  }

  /** Right of what was clicked, else left of it, else below or above; always within the window. */
  function place() {
    if (!event) {
      return;
    }
    const isSheet = matchMedia(IS_SHEET).matches || !anchor;
    const { left, top } = isSheet ? { left: "", top: "" } : beside(anchor, card.getBoundingClientRect());
    card.style.left = left;
    card.style.top = top;
  }

  /** Asks what it did, and how strongly people here felt it, for a card that may have another event by then. */
  function askMore() {
    asking?.abort();
    asking = new AbortController();
    [effectsOf, felt] = [{}, null];
    add(EFFECTS, (found) => (effectsOf = found));
    if ("felt" in document.documentElement.dataset) {
      add(FELT, ({ feltIntensity }) => (felt = feltIntensity));
    }
  }

  async function add(document, take) {
    const { signal } = asking;
    try {
      const answer = await ask(document, { eventId: event.eventId }, signal);
      if (answer.event && !signal.aborted) {
        take(answer.event);
        draw();
      }
    } catch {
      // The card is whole without it: not every caller may read sightings.
    }
  }

  function close() {
    if (!event) {
      return;
    }
    const { eventId } = event;
    const hadFocus = card.contains(document.activeElement);
    asking?.abort();
    event = null;
    card.hidden = true;
    if (hadFocus) {
      const before = typeof restoreFocusTo === "function" ? restoreFocusTo() : restoreFocusTo;
      before?.focus({ preventScroll: true });
    }
    onClose?.(eventId);
  }

  return {
    /**
     * Opens the card, or gives it another event.
     *
     * @param {import("../documents.js").QuakeEvent} opened
     * @param {?Box} clicked  what it is placed beside
     * @param {{restoreFocusTo?: HTMLElement | (() => ?HTMLElement)}} [how]  what gets the focus back; a function finds
     *   it then, where what was clicked may have been drawn anew
     */
    open(opened, clicked, how = {}) {
      event = opened;
      anchor = clicked;
      restoreFocusTo = how.restoreFocusTo ?? document.activeElement;
      shared.textContent = "";
      if (!card.isConnected) {
        document.body.append(card);
      }
      card.hidden = false;
      card.scrollTop = 0;
      askMore();
      draw();
      card.focus({ preventScroll: true });
    },
    /** Shows another version of the event that it has. */
    show(version) {
      if (event?.eventId === version.eventId) {
        event = version;
        draw();
      }
    },
    close,
    get eventId() {
      return event?.eventId ?? null;
    },
  };
}

/** @param {Box} anchor @param {{width: number, height: number}} size */
function beside({ x, y, width, height }, size) {
  const within = (value, most) => Math.max(MARGIN, Math.min(value, most - MARGIN));
  const right = x + width + GAP;
  const left = x - GAP - size.width;
  const fitsRight = right + size.width + MARGIN <= innerWidth;
  const isBeside = fitsRight || left >= MARGIN;
  const below = y + height + GAP;
  const isBelow = below + size.height + MARGIN <= innerHeight;
  const level = isBeside ? y - 2 * GAP : isBelow ? below : y - GAP - size.height;
  return {
    left: `${within(isBeside ? (fitsRight ? right : left) : x + width / 2 - size.width / 2, innerWidth - size.width)}px`,
    top: `${within(level, innerHeight - size.height)}px`,
  };
}
