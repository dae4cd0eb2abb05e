// One choice of events while it is shown: asked for, drawn, and followed live until the page goes elsewhere.

import { batched } from "./batched.js";
import { EVENTS, LIST, LIVE, NEWEST, STATISTICS, TOTAL } from "./documents.js";
import { ROWS } from "./event_list.js";
import { ask, wording } from "./graph.js";
import { follow } from "./live.js";
import { byAge, byDepth, extent } from "./scales.js";
import { arrivals, summary } from "./sentences.js";

const GONE = ["DELETED", "MERGED"]; // kinds of versions that are in no list

const RECENT_MS = 7 * 24 * 3600 * 1000; // what is shown where the filter names no time: up to the newest event
const MOST = 3000; // events on the map and in the plot: beyond, they hide each other
const MOST_RINGS = 50; // of arrivals at once
const BEGINNING_MS = 2000; // to wait for the subscription, which a proxy may hold back

const LONGEST_PAUSE_MS = 60_000; // before everything is asked for again

const ARRIVALS_MS = 200; // arrivals are drawn together,
const ANNOUNCED_MS = 3000; // told together,
const COUNTED_MS = 2000; // and counted by the service, once for all of them

export class Watch {
  static #failures = 0; // to load the events, one after the other: each makes the pause before the next attempt longer
  /** @type {Map<string, import("./documents.js").QuakeEvent>} */
  #events = new Map(); // on the map
  #ended = new AbortController();
  #turned = new AbortController(); // to another page of the list
  #page = null; // its cursors, as text
  #colour = "age";
  #loaded = new Map(); // the parts that were asked for → whether the last attempt succeeded
  #meanwhile = null; // what arrives while a page of the list is asked for
  #isFollowed = false;

  /**
   * @param {object} filter  an EventFilter; without a time, that of recent events is meant
   * @param {number} pageSize  events to ask for at once
   * @param {object} views  where it is shown
   * @param {() => void} startAgain  called where events were left out
   */
  constructor(filter, pageSize, views, startAgain) {
    const { signal } = this.#ended;
    this.pageSize = pageSize;
    this.views = views;
    this.startAgain = batched(Math.min(1000 * 2 ** Watch.#failures, LONGEST_PAUSE_MS), signal, startAgain);
    this.arrived = batched(ARRIVALS_MS, signal, (edges) => this.#take(edges));
    this.announce = batched(ANNOUNCED_MS, signal, (events) => this.views.say("arrivals", arrivals(events.flat())));
    this.recount = batched(COUNTED_MS, signal, () => {
      this.#try("statistics", () => this.#showStatistics());
      this.#try("total", () => this.#showTotal());
    });
    this.begun = this.#begin(filter); // a promise of the filter with its time
    this.#run();
  }

  /** Ends it, and what it tells of what went wrong. */
  end() {
    this.#ended.abort();
    this.#turned.abort();
    for (const part of this.#loaded.keys()) {
      this.views.problems.tell(part, []);
    }
  }

  find(eventId) {
    return this.#events.get(eventId) ?? this.views.list.find(eventId);
  }

  /** @param {"age" | "depth"} colour */
  colour(colour) {
    if (colour !== this.#colour) {
      this.#colour = colour;
      this.#draw();
    }
  }

  /** Turns the list to a page: behind a cursor, before one, or to the newest. */
  turnTo({ after, before }) {
    const page = JSON.stringify([after, before]);
    if (page === this.#page) {
      return;
    }
    this.#page = page;
    this.#turned.abort();
    this.#turned = new AbortController();
    const size = Math.min(ROWS, this.pageSize);
    const place = before ? { last: size, before } : { first: size, after };
    this.#try("list", () => this.#showList(place, this.#turned.signal), this.#turned.signal);
  }

  #run() {
    this.views.state({ name: "connecting" });
    this.views.list.forget();
    this.views.say("summary", "Loading…");
    this.views.say("arrivals", "");
    this.#try("statistics", () => this.#showStatistics());
    this.tried = this.#try("events", () => this.#showEvents()); // a promise, kept also where they fail
  }

  /** Tells what goes wrong with one part of the page; the others go on. */
  async #try(part, work, signal = this.#ended.signal) {
    try {
      await work();
      this.#loaded.set(part, true);
      if (!signal.aborted) {
        this.views.problems.tell(part, []);
      }
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      this.views.problems.tell(part, [wording(error)], { canRetry: true });
      if (part === "events" && !this.#isFollowed) {
        this.views.state({ name: "off", reason: "the events could not be loaded" });
      }
      this.#loaded.set(part, false);
    }
    this.#summarise();
  }

  async #withTime(filter) {
    if (filter.startTime || filter.endTime) {
      return filter;
    }
    const { events } = await ask(NEWEST, {}, this.#ended.signal);
    const [newest] = events.nodes;
    if (!newest) {
      return filter;
    }
    return { ...filter, startTime: new Date(newest.eventTsMs - RECENT_MS).toISOString() };
  }

  /** Begins the subscription before all else is asked for: what is stored meanwhile is told twice, not never. */
  async #begin(filter) {
    const followed = await this.#withTime(filter);
    await this.#follow(followed);
    return followed;
  }

  /** Asks for the newest events page by page, and draws each page. */
  async #showEvents() {
    const filter = await this.begun;
    let after = null;
    let more = true;
    while (more && this.#events.size < MOST) {
      const { events } = await ask(EVENTS, { filter, first: this.pageSize, after }, this.#ended.signal);
      for (const event of events.nodes) {
        this.#events.set(event.eventId, event);
      }
      after = events.pageInfo.endCursor;
      more = events.pageInfo.hasNextPage;
      this.#draw();
    }
    Watch.#failures = 0;
  }

  async #showList(place, signal) {
    const filter = await this.begun;
    const meanwhile = (this.#meanwhile = []);
    try {
      const { events } = await ask(LIST, { filter, ...place }, signal);
      this.views.list.show(events, Boolean(place.before || place.after));
    } finally {
      if (this.#meanwhile === meanwhile) {
        this.#meanwhile = null;
      }
    }
    this.views.list.insert(meanwhile);
  }

  async #showTotal() {
    const { events } = await ask(TOTAL, { filter: await this.begun }, this.#ended.signal);
    this.views.list.count(events.totalCount);
  }

  async #showStatistics() {
    const filter = await this.begun;
    const { catalogueStatistics } = await ask(STATISTICS, { filter }, this.#ended.signal);
    this.views.frequency.show(catalogueStatistics, filter.types ? "event" : "earthquake");
  }

  /** Follows what is stored from now on, until the end; resolves once that has begun, or has not for now. */
  #follow(filter) {
    this.#isFollowed = true;
    return new Promise((resolve) => {
      let isResolved = false;
      const goOn = () => {
        isResolved = true;
        resolve();
      };
      setTimeout(goOn, BEGINNING_MS);
      follow({
        document: LIVE,
        variables: { filter },
        signal: this.#ended.signal,
        onNotice: (notice) => this.#hear(notice),
        onState: (state) => {
          this.views.state(state);
          if (state.name === "live" && isResolved && !state.isResumed) {
            this.#try("catch-up", () => this.#catchUp(filter));
          }
          if (state.name !== "connecting") {
            goOn();
          }
        },
      });
    });
  }

  /**
   * Asks for what may have been stored before the subscription began. One page is enough where it reaches back to what is
   * known; where it does not, or where nothing could be loaded, everything is asked for again.
   */
  async #catchUp(filter) {
    await this.tried;
    if (!this.#loaded.get("events")) {
      Watch.#failures += 1;
      this.startAgain();
      return;
    }
    const { events } = await ask(LIST, { filter, first: this.pageSize }, this.#ended.signal);
    if (events.pageInfo.hasNextPage && !this.#events.has(events.edges.at(-1).node.eventId)) {
      this.startAgain();
    } else {
      events.edges.forEach((edge) => this.arrived(edge));
    }
  }

  /**
   * @param {object} notice
   * @param {?import("./documents.js").QuakeEvent} notice.event  null where some were left out
   * @param {?string} notice.kind  what made this version of it: CREATED, REVISED, DELETED, …
   * @param {string} notice.cursor
   * @param {number} notice.lost  how many were left out, as this client read too slowly
   */
  #hear({ event, kind, cursor, lost }) {
    if (lost) {
      this.startAgain();
    } else if (GONE.includes(kind)) {
      this.#replace(event.eventId, null);
    } else if (kind === "CREATED") {
      this.arrived({ cursor, node: event });
    } else if (event && this.find(event.eventId)) {
      this.#replace(event.eventId, event);
    } else if (event) {
      this.startAgain(); // a revision has brought it into the filter; its notice has no cursor of the list
    }
  }

  /** Shows another version of an event, or none of it any more. */
  #replace(eventId, event) {
    if (this.#events.delete(eventId) && event) {
      this.#events.set(eventId, event);
    }
    this.views.list.replace(eventId, event);
    this.recount();
    this.#draw();
    this.#summarise();
  }

  /** Takes in what is told. What the map has may still be new to the list and the counts, which were asked for apart. */
  #take(edges) {
    this.recount();
    if (this.#meanwhile) {
      this.#meanwhile.push(...edges);
    } else {
      this.views.list.insert(edges);
    }
    const events = this.#keep(edges.map(({ node }) => node));
    if (!events.length) {
      return;
    }
    this.#draw();
    for (const { eventId } of events.slice(-MOST_RINGS)) {
      this.views.map.ring(eventId);
      this.views.timeline.ring(eventId);
    }
    this.#summarise();
    this.announce(events);
  }

  /** Keeps events for the map, but none beyond the most that it shows; those that it did not have are returned. */
  #keep(events) {
    const oldest = this.#events.size < MOST ? -Infinity : extent([...this.#events.values()], "eventTsMs")[0];
    const fresh = [];
    for (const event of events) {
      if (!this.#events.has(event.eventId) && event.eventTsMs >= oldest) {
        this.#events.set(event.eventId, event);
        fresh.push(event);
      }
    }
    if (this.#events.size > MOST) {
      const newestFirst = [...this.#events.values()].sort((one, other) => other.eventTsMs - one.eventTsMs);
      newestFirst.slice(MOST).forEach(({ eventId }) => this.#events.delete(eventId));
    }
    return fresh;
  }

  #draw() {
    const events = [...this.#events.values()];
    const colouring = this.#colour === "depth" ? byDepth() : byAge(...extent(events, "eventTsMs"));
    this.views.map.show(events, colouring);
    this.views.timeline.show(events, colouring);
  }

  /** Says how many there are, once that is known: from the list, or because all were loaded and there is none. */
  async #summarise() {
    if (this.#loaded.has("events") && this.#loaded.has("list")) {
      const filter = await this.begun.catch(() => null);
      const shown = this.#events.size;
      const total = this.views.list.total ?? (this.#loaded.get("events") && !shown ? 0 : undefined);
      this.views.say("summary", summary(filter, shown, total));
    }
  }
}
