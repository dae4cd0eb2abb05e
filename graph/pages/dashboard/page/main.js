// The page: puts its parts together, and goes where its address says. The address holds everything that can be selected,
// so that any state of the page can be shared, and the browser's back and forward lead through them.

import { downloadsOf } from "./download.js";
import { eventCard } from "./event/event_card.js";
import { eventList } from "./event_list.js";
import { exportLinks } from "./export_links.js";
import * as filters from "./filters.js";
import { takeToken, wording } from "./graph.js";
import { newestWhenIdle } from "./idle.js";
import { worldMap } from "./map/world_map.js";
import { depthSection } from "./plots/depth_section.js";
import { eventRates } from "./plots/event_rates.js";
import { magnitudeFrequency } from "./plots/magnitude_frequency.js";
import { magnitudeTime } from "./plots/magnitude_time.js";
import { onPreferences, preferenceButton, units, zone } from "./preferences.js";
import { presets } from "./presets.js";
import { problemList } from "./problem_list.js";
import { connection } from "./sentences.js";
import { sightings } from "./sightings/sightings.js";
import { watchArea } from "./watch_area.js";
import { Watch } from "./watch.js";

const AGING_MS = 30_000; // after which the age of the newest event is written anew

const byId = (id) => document.getElementById(id);
const form = byId("filters");
const { dataset } = document.documentElement;
const problems = problemList(byId("problems"), showAll);

const plots = [
  magnitudeTime(byId("magnitude-time"), { onSelect: select, onRange: zoom, timeZone: zone }),
  eventRates(byId("event-rates"), { onRange: zoom }),
  depthSection(byId("depth-section"), { onSelect: select }),
  magnitudeFrequency(byId("magnitude-frequency")),
];
const drawPlots = plots.map((plot) => newestWhenIdle((shown) => plot.show(shown))); // each in a moment of its own
const map = worldMap(byId("map"), {
  onSelect: select,
  onSelectSighting: (sightingId) => reports?.select(sightingId),
  onArea: (box) => choose(() => filters.setArea(form, box)),
  onProblem: (texts) => problems.tell("map", texts),
});
const card = eventCard({ onClose: () => mark(null) });
const list = eventList(byId("list"), select, addressOf);
const exports = byId("export").querySelector("ul");
const shortcuts = presets(byId("presets"));
const areaWatch = "watches" in dataset ? watchArea(document.body) : null;

const views = {
  list,
  card,
  problems,
  map,
  say: (id, text) => say(byId(id), text),
  offer,
  state(state) {
    freshness.state = state;
    showFreshness();
  },
  newest(ms) {
    freshness.newest = ms;
    showFreshness();
  },
  /** @param {object} shown  what is drawn: events, isWhole, count, range, colouring, statistics, filter */
  draw(shown) {
    const main = document.querySelector("main");
    main.dataset.drawn = shown.events.length;
    main.shown = shown; // for the browser's console
    map.show(shown);
    drawPlots.forEach((draw) => draw(shown));
    exports.replaceChildren(...exportLinks(shown.filter));
  },
  ring(eventId) {
    [map, ...plots].forEach((view) => view.ring?.(eventId));
  },
};
const reports = "sightings" in dataset ? sightings(byId("sightings"), views) : null;

const freshness = { state: { name: "connecting" }, newest: null }; // of the subscription, and of the catalogue
let said = null; // of the filters, by the address, when the form was filled from it
let selection = null; // what the form was then: what has been typed since is not yet selected
let watch = null;

/** Shows what the address says. What is typed stays unless it goes to other filters or afresh. */
function open({ afresh = false } = {}) {
  const address = new URLSearchParams(location.search);
  if (!afresh && said === filters.said(form, address)) {
    turn();
    return;
  }
  said = filters.said(form, address);
  problems.tell("form", []);
  problems.tell("address", filters.fill(form, address));
  selection = { filter: filters.eventFilter(form), period: filters.period(form) };
  say(byId("filter-number"), filters.number(form) ? String(filters.number(form)) : "");
  map.showArea(selection.filter.box ?? null);
  byId("watch-area").hidden = !areaWatch || !selection.filter.box;
  show();
}

/** Asks for everything, with nothing of what was asked for before. */
function show() {
  watch?.end();
  watch = new Watch(selection, Number(dataset.pageSize), views, show);
  turn();
}

/** Asks for what people report, too, which no filter and no address changes. */
function showAll() {
  show();
  reports?.show();
}

/** Shows what the address says besides the filters: how events are coloured and sorted, and the page of the list. */
function turn() {
  const address = new URLSearchParams(location.search);
  problems.tell("how", filters.fillHow(form, address));
  watch.colour(form.elements.colour.value);
  list.readdress();
  shortcuts.readdress();
  watch.turnTo({ after: address.get("after"), before: address.get("before") }, form.elements.sort.value);
}

function go(search, how) {
  history.pushState(null, "", search === "?" ? location.pathname : search);
  open(how);
}

/** Goes to the address of the form after a change of it. */
function choose(change) {
  change();
  const found = filters.problems(form);
  problems.tell("form", found);
  if (found.length) {
    byId("more-filters").open = true;
  } else {
    go(`?${filters.parameters(form)}`, { afresh: true });
  }
}

/** Goes to a time range, epoch milliseconds. */
function zoom(range) {
  choose(() => filters.setTimes(form, range));
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

/** Opens the card of an event beside what was clicked. */
function select(eventId, anchor) {
  const event = watch?.find(eventId);
  if (event) {
    mark(eventId);
    const focused = document.activeElement;
    const inList = () => byId("list").querySelector(`[data-event-id="${CSS.escape(eventId)}"] a`);
    card.open(event, new DOMRect(anchor.x, anchor.y, anchor.width ?? 0, anchor.height ?? 0), { restoreFocusTo: () => (focused.isConnected ? focused : inList()) });
  }
}

function mark(eventId) {
  [map, list, ...plots].forEach((view) => view.select?.(eventId));
}

/** Says how live the page is, and how fresh what it shows. */
function showFreshness() {
  const { state, newest } = freshness;
  const place = byId("connection");
  const now = Date.now();
  place.dataset.state = state.name;
  place.toggleAttribute("data-stale", newest !== null && now - newest > 24 * 3600 * 1000);
  say(place, connection(state, newest, now));
}

/** Screen readers hear of what is written, also where it is the same again. */
function say(place, text) {
  if (place.textContent !== text) {
    place.textContent = text;
  }
}

/** Says something, with a button that does something about it. */
function offer(text, action, work) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = action;
  button.addEventListener("click", () => work());
  byId("arrivals").replaceChildren(text, button);
}

form.addEventListener("submit", (submit) => {
  submit.preventDefault();
  byId("more-filters").open = false;
  choose(() => {});
});

document.addEventListener("change", ({ target }) => {
  if (target.form === form && ["colour", "sort"].includes(target.name)) {
    const address = new URLSearchParams(location.search);
    address.set(target.name, target.value);
    if (target.name === "sort") {
      ["after", "before"].forEach((cursor) => address.delete(cursor));
    }
    go(`?${address}`);
  }
});

document.addEventListener("click", (click) => {
  const link = click.target.closest('a[href^="?"]');
  const isPlain = !(click.button || click.ctrlKey || click.metaKey || click.shiftKey || click.altKey);
  if (link && isPlain) {
    click.preventDefault();
    go(link.getAttribute("href"), { afresh: form.contains(link) });
    const list = link.closest("#list"); // after a turn of its page, reading goes on from its top
    list?.querySelector(".scroller").scrollTo(0, 0);
    list?.focus();
    list?.scrollIntoView({ block: "nearest" });
  }
  for (const details of form.querySelectorAll("details[open]")) {
    details.open = details.contains(click.target) && !link;
  }
});

document.addEventListener("keydown", ({ key }) => {
  const details = key === "Escape" && document.activeElement?.closest("#filters details[open]");
  if (details) {
    details.open = false;
    details.querySelector("summary").focus();
  }
});

byId("watch-area").addEventListener("click", () => areaWatch.open(selection.filter));
downloadsOf(exports, async (work) => {
  problems.tell("export", []);
  await work().catch((error) => problems.tell("export", [wording(error)]));
});
preferenceButton(byId("zone"), "zone", "Times");
preferenceButton(byId("units"), "units", "Lengths");
onPreferences(() => {
  map.setUnits(units());
  watch.rewrite();
  plots.forEach((plot) => plot.redraw?.());
});
addEventListener("popstate", () => open());
addEventListener("hashchange", () => takeToken() && showAll());
setInterval(showFreshness, AGING_MS);

takeToken();
open();
reports?.show();
