// The page of one event: asks for it, shows it in full, and again when another version of it is stored.

import { batched } from "../batched.js";
import { EVENT_IN_FULL, FELT, LIVE_EVENT, SIGHTINGS_OF } from "../documents.js";
import { magnitude } from "../format.js";
import { downloadsOf } from "../download.js";
import { ask, Refused, takeToken, wording } from "../graph.js";
import { element } from "../html.js";
import { follow } from "../live.js";
import { problemList } from "../problem_list.js";
import { area, category, confirmed, reported } from "../sightings/sighting_words.js";
import { exportsOf, pageOf } from "./event_address.js";
import { badge, effects, feltHere, quality, title, usgsLink, whereAndWhen, write } from "./event_facts.js";
import { eventMap } from "./event_map.js";
import { chosenTime, depth } from "./event_words.js";
import { neighboursOf, showNeighbours } from "./neighbours.js";
import { onPreferences } from "../preferences.js";
import { showRevisions } from "./revisions.js";
import { shareButton } from "./share.js";

const REVISED_MS = 200; // versions that come together are asked for once
const MISSING_SCOPE = ["UNAUTHENTICATED", "FORBIDDEN"];

const { eventId: EVENT_ID, ...SERVED } = document.documentElement.dataset;
const main = document.getElementById("event");
const byId = (id) => document.getElementById(id);
const problems = problemList(byId("problems"), show);
const [share, shared] = shareButton(() => shown);

let shown = null; // the event
const more = { neighbours: null, felt: null }; // what is asked for apart from it
let asking = new AbortController();
let following = null;

/** Asks for everything. */
async function show() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  await part("event", signal, async () => {
    const { event } = await ask(EVENT_IN_FULL, { eventId: EVENT_ID }, signal);
    if (!event) {
      problems.tell("event", [`The catalogue has no event “${EVENT_ID}”.`]);
      return;
    }
    if (event.mergedInto) {
      location.replace(pageOf(event.mergedInto.eventId));
      return;
    }
    tellRevision(event);
    shown = event;
    draw();
    followFrom(event.eventId);
    await Promise.all([
      part("neighbours", signal, async () => {
        more.neighbours = await neighboursOf(event, signal);
        drawNeighbours();
      }),
      "sightings" in SERVED && part("sightings", signal, () => showSightings(event.eventId, signal)),
      "felt" in SERVED && part("felt", signal, () => showFelt(event.eventId, signal)),
    ]);
  });
  main.ariaBusy = "false";
}

/** Does one part of the work, and tells what goes wrong with it; the others go on. */
async function part(name, signal, work) {
  try {
    problems.tell(name, []);
    await work();
  } catch (error) {
    if (!signal.aborted) {
      problems.tell(name, [wording(error)], { canRetry: true });
    }
  }
}

/** Asks for how strongly people here felt it. Callers who may not read that see nothing of it. */
async function showFelt(eventId, signal) {
  const event = await readable(FELT, eventId, signal);
  if (event) {
    more.felt = event.feltIntensity;
    drawEffects();
  }
}

/** Asks for what people here report of it, likewise. */
async function showSightings(eventId, signal) {
  const event = await readable(SIGHTINGS_OF, eventId, signal);
  if (event) {
    const section = byId("sightings-of");
    section.hidden = !event.sightings.nodes.length;
    section.querySelector("ul").replaceChildren(...event.sightings.nodes.map(sighting));
  }
}

/** Asks for something of the event; null if the caller may not read it. */
async function readable(document, eventId, signal) {
  try {
    return (await ask(document, { eventId }, signal)).event;
  } catch (error) {
    if (error instanceof Refused && MISSING_SCOPE.includes(error.code)) {
      return null;
    }
    throw error;
  }
}

function sighting(each) {
  const made = element("li");
  made.append(element("strong", category(each.category)), ` ${area(each)}. ${reported(each)}, ${confirmed(each)}.`);
  if (each.text) {
    made.append(element("q", each.text));
  }
  return made;
}

/** Says what is new, if the page has shown an earlier version. */
function tellRevision(event) {
  if (shown && event.revision > shown.revision) {
    const before = event.mag === shown.mag ? "" : `, before ${magnitude(shown.mag)}`;
    byId("news").textContent = `Revised: now version ${event.revision}, magnitude ${magnitude(event.mag)}${before}.`;
  }
}

function draw() {
  document.title = title(shown);
  main.querySelector("h1").textContent = title(shown);
  main.querySelector(".lead").textContent = `${chosenTime(shown.eventTsMs)}, ${depthInWords(shown)}`;
  main.querySelector(".badge-place").replaceChildren(badge(shown));
  byId("notice").hidden = !shown.deletion;
  byId("notice").textContent = shown.deletion
    ? `Its source has deleted this event, ${chosenTime(Date.parse(shown.deletion.recordedAt))}. These are its last known values.`
    : "";
  const usgs = usgsLink(shown, "USGS");
  main.querySelector(".actions").replaceChildren(share, ...(usgs ? [usgs] : []), shared);
  write(byId("where"), whereAndWhen(shown));
  write(byId("quality"), quality(shown));
  byId("ids").textContent = `Ids: ${ids(shown)}.`;
  byId("exports").replaceChildren("This event as ", ...exportsOf(shown.eventId).flatMap(exportLink));
  main.querySelector(".content").hidden = false;
  part("map", asking.signal, () => eventMap(byId("event-map"), shown));
  part("plot", asking.signal, () => showRevisions(byId("revisions"), shown.revision, shown.revisions.nodes));
  drawEffects();
  drawNeighbours();
}

const depthInWords = ({ depth: km }) => (km === null ? "depth not measured" : `${depth(km)} deep`);

function ids({ eventId, preferredId, aliases }) {
  const named = (id) => (id === preferredId && id !== eventId ? `${id} (preferred by the source)` : id);
  return aliases.map((alias) => named(alias.eventId)).join(", ");
}

function exportLink([name, url, file], at) {
  const link = element("a", name);
  link.href = url;
  link.download = file;
  return at ? [", ", link] : [link];
}

function drawEffects() {
  const facts = [...effects(shown), ...(more.felt ? feltHere(more.felt) : [])];
  write(byId("effects"), facts);
  byId("effects").parentElement.querySelector(".none").hidden = facts.length > 0;
}

function drawNeighbours() {
  if (more.neighbours) {
    showNeighbours(byId("neighbours"), shown, more.neighbours);
  }
}

/** Follows the event, once. What is stored between the answer and the subscription is asked for again. */
function followFrom(eventId) {
  if (following) {
    return;
  }
  following = new AbortController();
  const again = batched(REVISED_MS, following.signal, () => show());
  let wasLive = false;
  follow({
    document: LIVE_EVENT,
    variables: { filter: { eventIds: [eventId] } },
    signal: following.signal,
    onNotice: () => again(),
    onState: (state) => {
      showState(state);
      if (state.name === "live" && !state.isResumed) {
        if (wasLive) {
          again();
        }
        wasLive = true;
      }
    },
  });
}

/** @param {import("../live.js").State} state */
function showState(state) {
  const texts = {
    connecting: () => "Connecting…",
    live: () => "Live",
    waiting: ({ seconds, reason }) => `Reconnecting in ${Math.ceil(seconds)} s: ${reason}`,
    off: ({ reason }) => `Not live: ${reason}`,
  };
  const place = byId("connection");
  place.dataset.state = state.name;
  place.textContent = texts[state.name](state);
}

downloadsOf(byId("exports"), (work) => part("export", asking.signal, work));
onPreferences(() => shown && draw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown && draw());
addEventListener("hashchange", () => takeToken() && show());
takeToken();
show();
