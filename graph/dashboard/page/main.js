// The page: puts its parts together, and goes where its address says. The address holds everything that can be chosen,
// so that any state of the page can be shared, and the browser's back and forward lead through them.

import { showDetails } from "./event_details.js";
import { eventList } from "./event_list.js";
import * as filters from "./filters.js";
import { magnitudeFrequency } from "./magnitude_frequency.js";
import { magnitudeTime } from "./magnitude_time.js";
import { problemList } from "./problem_list.js";
import { Watch } from "./watch.js";
import { worldMap } from "./world_map.js";

const byId = (id) => document.getElementById(id);
const form = byId("filters");
const problems = problemList(byId("problems"), () => open({ afresh: true }));

const views = {
  map: worldMap(byId("map"), select),
  timeline: magnitudeTime(byId("magnitude-time"), select),
  frequency: magnitudeFrequency(byId("magnitude-frequency")),
  list: eventList(byId("list"), select, addressOf),
  say: (id, text) => (byId(id).textContent = text),
  state: (state) => showState(byId("connection"), state),
  problems,
};

let watch = null;

/** Shows what the address says: anew, or only what is different. */
function open({ afresh = false } = {}) {
  const address = new URLSearchParams(location.search);
  problems.clear();
  problems.tell("address", filters.fill(form, address));
  const details = byId("more-filters");
  details.open ||= [...details.querySelectorAll("input")].some(({ value }) => value);

  const filter = filters.eventFilter(form);
  if (afresh || !watch?.isOf(filter)) {
    watch?.end();
    watch = new Watch(filter, Number(document.documentElement.dataset.pageSize), views, () => open({ afresh: true }));
  }
  watch.colour(form.elements.colour.value);
  watch.turnTo({ after: address.get("after"), before: address.get("before") });
}

function go(search) {
  const same = search === (location.search || "?");
  history.pushState(null, "", search === "?" ? location.pathname : search);
  open({ afresh: same });
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
    showDetails(byId("selected").querySelector(".content"), event);
  }
}

/** @param {import("./live.js").State} state */
function showState(place, state) {
  place.dataset.state = state.name;
  place.textContent = {
    connecting: () => "Connecting…",
    live: () => "Live",
    waiting: ({ seconds, reason }) => `Reconnecting in ${Math.ceil(seconds)} s: ${reason}`,
    off: ({ reason }) => `Not live: ${reason}`,
  }[state.name](state);
}

form.addEventListener("submit", (submit) => {
  submit.preventDefault();
  const found = filters.problems(form);
  problems.tell("form", found);
  if (!found.length) {
    go(`?${filters.parameters(form)}`);
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
    go(link.getAttribute("href"));
    const list = link.closest("#list"); // who turns its page goes on from its top
    list?.focus();
    list?.scrollIntoView();
  }
});

addEventListener("popstate", () => open());

fetch(new URL("coastline.json", import.meta.url))
  .then((answer) => answer.json())
  .then(views.map.showLand)
  .catch(() => problems.tell("land", ["The coastline could not be loaded."]));
open();
