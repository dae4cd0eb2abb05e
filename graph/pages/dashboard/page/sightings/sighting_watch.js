// The active sightings while they are shown: asked for once, followed live, and faded by the page's own clock until each
// expires.

import { batched } from "../batched.js";
import { CONFIRM, LIVE_SIGHTINGS, REPORTER, SIGHTINGS } from "../documents.js";
import { ask, hasToken, Refused, wording } from "../graph.js";
import { follow } from "../live.js";
import { news } from "./sighting_words.js";

const MOST = 200; // that are shown, the newest
const TICK_MS = 1000; // in which a confidence falls by a twentieth of a percent
const BEGINNING_MS = 2000; // to wait for the subscription, which a proxy may hold back
const ANNOUNCED_MS = 3000; // arrivals are told together
const MISSING_SCOPE = ["UNAUTHENTICATED", "FORBIDDEN"];

export class SightingWatch {
  /** @type {Map<string, import("../documents.js").Sighting>} */
  #sightings = new Map();
  #hidden = new Set(); // ids: an answer that was on its way must not bring them back
  #confirmed = new Set(); // ids that were confirmed here
  #ended = new AbortController();
  #state = { name: "connecting" }; // of the subscription
  #isAsked = false;
  #mayWrite = false;

  /**
   * @param {number} pageSize  the most to ask for at once
   * @param {object} views  where they are shown
   */
  constructor(pageSize, views) {
    const { signal } = this.#ended;
    this.first = Math.min(MOST, pageSize);
    this.views = views;
    this.announce = batched(ANNOUNCED_MS, signal, (sightings) => views.say("sighting-news", news(sightings.reverse())));
    this.#run(signal);
  }

  end() {
    this.#ended.abort();
    this.views.problems.tell("sightings", []);
  }

  /** Shows a version of a sighting. Confirmations only grow, so it does not matter which of two versions comes first. */
  take(sighting) {
    this.#keep([sighting]);
    this.#draw();
  }

  /** Confirms a sighting, and shows it as it is then. */
  async confirm({ id }) {
    const { confirmSighting } = await ask(CONFIRM, { id }, this.#ended.signal);
    this.#confirmed.add(id);
    this.take(confirmSighting.sighting);
    return confirmSighting;
  }

  /** Begins the subscription before all else is asked for: what is stored meanwhile is told twice, not never. */
  #run(signal) {
    const ticking = setInterval(() => this.#draw(), TICK_MS);
    const beginning = setTimeout(() => this.#isAsked || this.#load(), BEGINNING_MS);
    signal.addEventListener("abort", () => {
      clearInterval(ticking);
      clearTimeout(beginning);
    });
    follow({
      document: LIVE_SIGHTINGS,
      variables: {},
      signal,
      onNotice: (notice) => this.#hear(notice),
      onState: (state) => {
        this.#state = state;
        const isFresh = state.name === "live" && !state.isResumed;
        if (isFresh || (!this.#isAsked && state.name !== "connecting")) {
          this.#load();
        }
      },
    });
  }

  /** Asks for the newest. Who may not read them sees nothing of them. */
  async #load() {
    this.#isAsked = true;
    const { signal } = this.#ended;
    const known = [...this.#sightings.keys()];
    try {
      const [{ sightings, sightingCategories }, mayWrite] = await Promise.all([
        ask(SIGHTINGS, { first: this.first }, signal),
        mayReport(signal),
      ]);
      const found = new Set(sightings.nodes.map(({ id }) => id));
      known.filter((id) => !found.has(id)).forEach((id) => this.#sightings.delete(id));
      this.#keep(sightings.nodes);
      this.#mayWrite = mayWrite;
      this.views.reveal({ categories: sightingCategories, mayWrite });
      this.#tell(this.#state.name === "off" ? [`What people report is not live: ${this.#state.reason}`] : []);
      this.#draw();
    } catch (error) {
      if (!signal.aborted && !isMissingScope(error)) {
        this.#tell([wording(error)], { canRetry: true });
      }
    }
  }

  #tell(texts, how) {
    this.views.problems.tell("sightings", texts, how);
  }

  /**
   * @param {object} notice
   * @param {?string} notice.kind  REPORTED, CONFIRMED or HIDDEN
   * @param {?string} notice.nodeId  the sighting's global id
   * @param {?import("../documents.js").Sighting} notice.node  as it is now; null where it is gone
   * @param {number} notice.dropped  how many were left out, as this client read too slowly
   */
  #hear({ kind, nodeId, node, dropped }) {
    if (dropped) {
      this.#load();
    } else if (kind === "HIDDEN") {
      this.#hidden.add(nodeId);
      this.#sightings.delete(nodeId);
      this.#draw();
    } else if (node) {
      if (kind === "REPORTED" && !node.own) {
        this.announce(node);
      }
      this.take(node);
    }
  }

  #keep(sightings) {
    for (const sighting of sightings) {
      const known = this.#sightings.get(sighting.id);
      if (!this.#hidden.has(sighting.id) && !(known?.confirmations > sighting.confirmations)) {
        this.#sightings.set(sighting.id, sighting);
      }
    }
  }

  /** Shows the newest of those that have not expired; the others are forgotten. */
  #draw() {
    const now = Date.now();
    const active = [...this.#sightings.values()].filter(({ expiresAt }) => Date.parse(expiresAt) > now);
    const newest = active.sort((one, other) => (order(one) < order(other) ? 1 : -1)).slice(0, MOST);
    this.#sightings = new Map(newest.map((sighting) => [sighting.id, sighting]));
    this.views.show(newest, now, ({ own, id }) => this.#mayWrite && !own && !this.#confirmed.has(id));
  }
}

const order = ({ reportedAt, sightingId }) => reportedAt + sightingId;

/** Whether the caller may report and confirm. Where that cannot be told, the attempt will tell. */
async function mayReport(signal) {
  if (!hasToken()) {
    return false;
  }
  try {
    await ask(REPORTER, {}, signal);
  } catch (error) {
    return !isMissingScope(error);
  }
  return true;
}

function isMissingScope(error) {
  return error instanceof Refused && MISSING_SCOPE.includes(error.code);
}
