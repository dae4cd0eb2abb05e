// One selection of events while it is shown: asked for, drawn, and followed live until the page goes elsewhere.

import { batched } from "./batched.js";
import { LIST, LIVE, NEWEST, STATISTICS, TOTAL } from "./documents.js";
import { ORDERS, ROWS } from "./event_list.js";
import { ask, wording } from "./graph.js";
import { follow } from "./live.js";
import { axisRange, inPeriod } from "./periods.js";
import { BIN_KM } from "./plots/depths.js";
import { intervalOf } from "./plots/periods.js";
import { byAge, byDepth, extent } from "./scales.js";
import { arrivals, summary } from "./sentences.js";
import { ShownEvents } from "./shown_events.js";

const MOST_RINGS = 50; // of arrivals at once
const BEGINNING_MS = 2000; // to wait for the subscription, which a proxy may hold back
const LONGEST_PAUSE_MS = 60_000; // before everything is asked for again

const ARRIVALS_MS = 200; // arrivals are drawn together,
const ANNOUNCED_MS = 3000; // announced together,
const COUNTED_MS = 2000; // and counted by the service, once for all of them

export class Watch {
  static #failures = 0; // to load the events, one after the other: each makes the pause before the next attempt longer
  #shown = new ShownEvents();
  #statistics = null; // of the service, of all events
  #range = null; // of the time axes, epoch milliseconds
  #newest = null; // the time of the newest event of the catalogue
  #end = null; // where the period ends, if that is with the newest event
  #ended = new AbortController();
  #turned = new AbortController(); // to another page of the list
  #page = null; // its cursors and its order, as text
  #sort = "newest";
  #colour = "age";
  #loaded = new Map(); // the parts that were asked for → whether the last attempt succeeded
  #meanwhile = null; // what arrives while a page of the list is asked for
  #isFollowed = false;

  /**
   * @param {{filter: object, period: string}} selection  an EventFilter, and a period if that has no time
   * @param {number} pageSize  events to ask for at once
   * @param {object} views  where it is shown
   * @param {() => void} startAgain  called where events were left out
   */
  constructor(selection, pageSize, views, startAgain) {
    const { signal } = this.#ended;
    this.pageSize = pageSize;
    this.views = views;
    this.startAgain = batched(Math.min(1000 * 2 ** Watch.#failures, LONGEST_PAUSE_MS), signal, startAgain);
    this.arrived = batched(ARRIVALS_MS, signal, (edges) => this.#take(edges));
    this.announce = batched(ANNOUNCED_MS, signal, (events) => this.views.say("arrivals", arrivals(events.flat())));
    this.recount = batched(COUNTED_MS, signal, () => {
      this.#try("statistics", () => this.#showStatistics());
      this.#try("total", () => this.#showTotal());
      if (this.#sort !== "newest") {
        this.#readList(); // where an arrival belongs, only the service knows
      }
    });
    this.begun = this.#begin(selection); // a promise of the filter with its time
    this.#run();
  }

  /** Ends it, and what it says of what went wrong. */
  end() {
    this.#ended.abort();
    this.#turned.abort();
    for (const part of this.#loaded.keys()) {
      this.views.problems.tell(part, []);
    }
  }

  find(eventId) {
    return this.#shown.find(eventId) ?? this.views.list.find(eventId) ?? this.#largest(eventId);
  }

  /** @param {"age" | "depth"} colour */
  colour(colour) {
    if (colour !== this.#colour) {
      this.#colour = colour;
      this.#draw();
    }
  }

  /** Turns the list to a page: behind a cursor, before one, or to the first, of events that are sorted like this. */
  turnTo({ after, before }, sort) {
    const page = JSON.stringify([after, before, sort]);
    if (page === this.#page) {
      return;
    }
    this.#page = page;
    this.#sort = sort;
    this.#readList();
  }

  /** Writes everything anew, as people prefer times and lengths by now. */
  rewrite() {
    this.views.list.rewrite();
    this.#draw();
    this.#summarise();
  }

  #run() {
    this.views.state({ name: "connecting" });
    this.views.list.forget();
    this.views.say("summary", "Loading…");
    this.views.say("arrivals", "");
    this.#try("statistics", () => this.#showStatistics());
    this.tried = this.#try("events", () => this.#showEvents()); // a promise, kept also where they fail
  }

  /** Says what goes wrong with one part of the page; the others go on. */
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

  /** Begins the subscription before all else is asked for: what is stored meanwhile comes twice, not never. */
  async #begin({ filter: chosen, period }) {
    const { events } = await ask(NEWEST, {}, this.#ended.signal);
    this.#know(events.nodes[0]?.eventTsMs ?? null);
    const { filter, end } = inPeriod(chosen, period, this.#newest, Date.now());
    this.#end = end;
    await this.#follow(filter);
    return filter;
  }

  /** Knows the newest event of the catalogue, which tells how fresh it is. */
  #know(ms) {
    if (ms !== null && (this.#newest === null || ms > this.#newest)) {
      this.#newest = ms;
    }
    this.views.newest(this.#newest);
  }

  async #showEvents() {
    const filter = await this.begun;
    await this.#shown.load(filter, this.pageSize, this.#ended.signal, () => this.#draw());
    this.#draw();
    Watch.#failures = 0;
  }

  #readList() {
    const [after, before] = JSON.parse(this.#page);
    this.#turned.abort();
    this.#turned = new AbortController();
    const size = Math.min(ROWS, this.pageSize);
    const place = before ? { last: size, before } : { first: size, after };
    this.#try("list", () => this.#showList(place, this.#turned.signal), this.#turned.signal);
  }

  async #showList(place, signal) {
    const filter = await this.begun;
    const { orderBy } = ORDERS[this.#sort];
    const meanwhile = (this.#meanwhile = []);
    try {
      const { events } = await ask(LIST, { filter, orderBy, ...place }, signal);
      this.views.list.show(events, Boolean(place.before || place.after));
    } finally {
      if (this.#meanwhile === meanwhile) {
        this.#meanwhile = null;
      }
    }
    this.#insert(meanwhile);
  }

  #insert(edges) {
    if (this.#sort === "newest") {
      this.views.list.insert(edges);
    }
  }

  async #showTotal() {
    const { events } = await ask(TOTAL, { filter: await this.begun }, this.#ended.signal);
    this.views.list.count(events.totalCount);
  }

  async #showStatistics() {
    const filter = await this.begun;
    const interval = intervalOf(axisRange(filter, [0, this.#newest], this.#end) ?? { from: 0, to: 0 });
    const { catalogueStatistics } = await ask(STATISTICS, { filter, interval, binKm: BIN_KM }, this.#ended.signal);
    this.#statistics = catalogueStatistics;
    this.#draw();
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
    if (!this.#shown.isWhole) {
      this.recount();
      this.#readList();
      return;
    }
    const page = { filter, orderBy: ORDERS.newest.orderBy, first: this.pageSize };
    const { events } = await ask(LIST, page, this.#ended.signal);
    if (events.pageInfo.hasNextPage && !this.#shown.find(events.edges.at(-1).node.eventId)) {
      this.startAgain();
    } else {
      events.edges.forEach((edge) => this.arrived(edge));
    }
  }

  /**
   * @param {object} notice
   * @param {?import("./documents.js").QuakeEvent} notice.node  as it is now; null where some were left out
   * @param {?string} notice.kind  what made this version of it: CREATED, REVISED, DELETED, …
   * @param {?boolean} notice.matches  whether it passes the filter now
   * @param {string} notice.cursor
   * @param {number} notice.dropped  how many were left out, as this client read too slowly
   */
  #hear({ node, kind, matches, cursor, dropped }) {
    if (dropped) {
      this.startAgain();
    } else if (node && !matches) {
      this.#replace(node.eventId, null);
    } else if (kind === "CREATED") {
      this.arrived({ cursor, node });
    } else if (node && this.find(node.eventId)) {
      this.#replace(node.eventId, node);
    } else if (node) {
      this.startAgain(); // a revision has brought it into the filter; its notice has no cursor of the list
    }
  }

  /** Shows another version of an event, or none of it any more. */
  #replace(eventId, event) {
    this.#shown.replace(eventId, event);
    this.views.list.replace(eventId, event);
    if (event) {
      this.views.card.show(event);
    }
    this.recount();
    this.#draw();
    this.#summarise();
  }

  /** Takes in arrivals. What the map has may still be new to the list and the counts, which were asked for apart. */
  #take(edges) {
    this.#know(Math.max(...edges.map(({ node }) => node.eventTsMs)));
    const near = edges.filter(({ node }) => !this.#isFar(node));
    if (near.length < edges.length) {
      this.views.offer("Newer events have arrived, long after these.", "Show them", this.startAgain);
    }
    if (!near.length) {
      return;
    }
    this.recount();
    if (this.#meanwhile) {
      this.#meanwhile.push(...near);
    } else {
      this.#insert(near);
    }
    const events = this.#shown.add(near.map(({ node }) => node));
    if (!events.length) {
      return;
    }
    this.#draw();
    for (const { eventId } of events.slice(-MOST_RINGS)) {
      this.views.ring(eventId);
    }
    this.#summarise();
    this.announce(events);
  }

  /** Whether an event would squeeze what is shown, of a period that ended with an older one, into half of the axis. */
  #isFar({ eventTsMs }) {
    return this.#end !== null && this.#range && eventTsMs - this.#end > this.#end - this.#range.from;
  }

  #draw() {
    const events = this.#shown.all;
    const times = extent(events, "eventTsMs");
    const colouring = this.#colour === "depth" ? byDepth() : byAge(...times);
    this.begun.then((filter) => {
      this.#range = axisRange(filter, times, this.#end);
      this.views.list.colour(colouring);
      this.views.draw({
        ...{ filter, events, colouring, range: this.#range, statistics: this.#statistics },
        isWhole: this.#shown.isWhole,
        count: this.#total ?? events.length,
        noun: filter.types ? "event" : "earthquake", // that the statistics count
      });
    }, () => {});
  }

  /** How many events there are, as far as it is known. */
  get #total() {
    return this.views.list.total ?? this.#statistics?.count;
  }

  #largest(eventId) {
    const largest = this.#statistics?.largest;
    return largest?.eventId === eventId ? largest : undefined;
  }

  /** Says how many there are, once that is known: from the list, or because all were loaded and there is none. */
  async #summarise() {
    if (this.#loaded.has("events") && this.#loaded.has("list")) {
      const filter = await this.begun.catch(() => null);
      const shown = this.#shown.all.length;
      const total = this.#total ?? (this.#loaded.get("events") && !shown ? 0 : undefined);
      this.views.say("summary", summary(filter, this.#end, shown, total, this.#statistics?.largest));
    }
  }
}
