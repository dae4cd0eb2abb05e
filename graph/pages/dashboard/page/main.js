// The page: puts its parts together, and goes where its address says. The address holds everything that can be chosen,
// so that any state of the page can be shared, and the browser's back and forward lead through them.

import { addFelt, showDetails } from "./event_details.js";
import { eventList } from "./event_list.js";
import * as filters from "./filters.js";
import { takeToken } from "./graph.js";
import { magnitudeFrequency } from "./plots/magnitude_frequency.js";
import { magnitudeTime } from "./plots/magnitude_time.js";
import { problemList } from "./problem_list.js";
import { sightings } from "./sightings/sightings.js";
import { Watch } from "./watch.js";
import { worldMap } from "./map/world_map.js";

const byId = (id) => document.getElementById(id);
const form = byId("filters");
const problems = problemList(byId("problems"), showAll);

const views = {
  map: worldMap(byId("map"), select, (sightingId) => reports?.select(sightingId)),
  timeline: magnitudeTime(byId("magnitude-time"), select),
  frequency: magnitudeFrequency(byId("magnitude-frequency")),
  list: eventList(byId("list"), select, addressOf),
  say: (id, text) => say(byId(id), text),
  state: (state) => showState(byId("connection"), state),
  problems,
};
const reports = "sightings" in document.documentElement.dataset ? sightings(byId("sightings"), views) : null;

let said = null; // of the filters, by the address, when the form was filled from it
let filter = null; // what the form was then: what has been typed since is not yet chosen
let watch = null;

/** Shows what the address says. What is typed, and what is told, stays unless it goes to other filters or afresh. */
function open({ afresh = false } = {}) {
  const address = new URLSearchParams(location.search);
  if (!afresh && said === filters.said(form, address)) {
    turn();
    return;
  }
  said = filters.said(form, address);
  problems.tell("form", []);
  problems.tell("address", filters.fill(form, address));
  filter = filters.eventFilter(form);
  const details = byId("more-filters");
  details.open ||= [...details.querySelectorAll("input")].some(({ value }) => value);
  show();
}

/** Asks for everything, with nothing of what was asked for before. */
function show() {
  watch?.end();
  watch = new Watch(filter, Number(document.documentElement.dataset.pageSize), views, show);
  turn();
}

/** Asks for what people report, too, which no filter and no address changes. */
function showAll() {
  show();
  reports?.show();
}

/** Shows what the address says besides the filters: the colouring, and the page of the list. */
function turn() {
  const address = new URLSearchParams(location.search);
  problems.tell("colour", filters.fillColour(form, address));
  watch.colour(form.elements.colour.value);
  views.list.readdress();
  watch.turnTo({ after: address.get("after"), before: address.get("before") });
}

function go(search, how) {
  history.pushState(null, "", search === "?" ? location.pathname : search);
  open(how);
}

function addressOf(page) {
  const address = new URLSearchParams(location.search);
  address.delete("after");
  address.delete("before");
  for (const [name, cursor] of Object.entries(page)) {
    address.set(name, cursor);
  }
  return `?${address}`;
}

function select(eventId) {
  const event = watch?.find(eventId);
  if (event) {
    views.map.select(eventId);
    views.timeline.select(eventId);
    views.list.select(eventId);
    const facts = showDetails(byId("selected").querySelector(".content"), event);
    reports?.felt(eventId, (felt) => addFelt(facts, felt));
  }
}

/** @param {import("./live.js").State} state */
function showState(place, state) {
  place.dataset.state = state.name;
  const texts = {
    connecting: () => "Connecting…",
    live: () => "Live",
    waiting: ({ seconds, reason }) => `Reconnecting in ${Math.ceil(seconds)} s: ${reason}`,
    off: ({ reason }) => `Not live: ${reason}`,
  };
  say(place, texts[state.name](state));
}

/** Screen readers hear of what is written, also where it is the same again. */
function say(place, text) {
  if (place.textContent !== text) {
    place.textContent = text;
  }
}

form.addEventListener("submit", (submit) => {
  submit.preventDefault();
  const found = filters.problems(form);
  problems.tell("form", found);
  if (!found.length) {
    go(`?${filters.parameters(form)}`, { afresh: true });
  }
});

form.addEventListener("change", ({ target }) => {
  if (target.name === "colour") {
    const address = new URLSearchParams(location.search);
    address.set("colour", target.value);
    go(`?${address}`);
  }
});

document.addEventListener("click", (click) => {
  const link = click.target.closest('a[href^="?"]');
  const isPlain = !(click.button || click.ctrlKey || click.metaKey || click.shiftKey || click.altKey);
  if (link && isPlain) {
    click.preventDefault();
    go(link.getAttribute("href"), { afresh: form.contains(link) }); // which clears it
    const list = link.closest("#list"); // who turns its page goes on from its top
    list?.focus();
    list?.scrollIntoView();
  }
});

addEventListener("popstate", () => open());
addEventListener("hashchange", () => takeToken() && showAll());

fetch(new URL("map/coastline.json", import.meta.url))
  .then((answer) => answer.json())
  .then(views.map.showLand)
  .catch(() => problems.tell("land", ["The coastline could not be loaded."]));
takeToken();
open();
reports?.show();
