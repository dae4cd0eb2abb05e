// The events that are drawn one by one: all of a selection, or the largest where it has too many. So the largest always
// show, and what is left out is counted by the service.

import { EVENTS } from "./documents.js";
import { ask } from "./graph.js";

const MOST = 3000; // beyond, circles hide each other

export class ShownEvents {
  /** @type {Map<string, import("./documents.js").QuakeEvent>} */
  #events = new Map();
  /** Whether these are all events of the selection. */
  isWhole = true;

  get all() {
    return [...this.#events.values()];
  }

  find = (eventId) => this.#events.get(eventId);

  /**
   * Asks for them page by page.
   *
   * @param {object} filter
   * @param {number} pageSize
   * @param {AbortSignal} signal
   * @param {() => void} onPage  called after each page
   */
  async load(filter, pageSize, signal, onPage) {
    const page = async (orderBy, after) => {
      const { events } = await ask(EVENTS, { filter, orderBy, first: Math.min(pageSize, MOST), after }, signal);
      return events;
    };
    let orderBy = "TIME_DESC";
    let events = await page(orderBy, null);
    if (events.pageInfo.hasNextPage && (events.totalCount === null || events.totalCount > MOST)) {
      this.isWhole = false;
      orderBy = "MAGNITUDE_DESC";
      events = await page(orderBy, null);
    }
    for (;;) {
      events.nodes.forEach((event) => this.#events.set(event.eventId, event));
      onPage();
      if (!events.pageInfo.hasNextPage || this.#events.size >= MOST) {
        this.isWhole &&= !events.pageInfo.hasNextPage;
        return;
      }
      events = await page(orderBy, events.pageInfo.endCursor);
    }
  }

  /** Takes in arrivals, and drops the smallest if there are too many. Returns those that are new. */
  add(events) {
    const fresh = events.filter(({ eventId }) => !this.#events.has(eventId));
    fresh.forEach((event) => this.#events.set(event.eventId, event));
    if (this.#events.size > 2 * MOST) {
      const smallest = this.all.sort((one, other) => one.mag - other.mag).slice(0, this.#events.size - MOST);
      smallest.forEach(({ eventId }) => this.#events.delete(eventId));
      this.isWhole = false;
    }
    return fresh;
  }

  /** Replaces an event by another version of it, or by none. Returns whether it was there. */
  replace(eventId, event) {
    const wasThere = this.#events.delete(eventId);
    if (wasThere && event) {
      this.#events.set(eventId, event);
    }
    return wasThere;
  }
}
