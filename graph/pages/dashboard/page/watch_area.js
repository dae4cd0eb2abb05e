// The dialogue that watches the catalogue for what the page's filters select: from then on, each such event becomes a
// webhook, or an event of the person's inbox. It is there only where the service has watches.

import { CREATE_WATCH, ENDPOINTS } from "./documents.js";
import { decimal, magnitude } from "./format.js";
import { address, ask, hasToken, Refused, wording } from "./graph.js";
import { element } from "./html.js";

const MISSING_SCOPE = ["UNAUTHENTICATED", "FORBIDDEN"];
const NEEDED =
  "To watch an area takes a token with the scopes triggers:read and triggers:write: open this page with #token=TOKEN " +
  "behind its address.";
const LONGEST_NAME = 128;
const NEW_ENDPOINT = 'mutation { createEndpoint(input: { url: "https://…" }) { endpoint { endpointId } secret } }';

/**
 * @param {HTMLElement} parent  of the dialogue
 * @returns {{open: (filter: object) => Promise<void>}}  takes an EventFilter, whose times do not matter
 */
export function watchArea(parent) {
  const dialog = element("dialog", "", "watch-area");
  dialog.setAttribute("aria-labelledby", "watch-area-title");
  let asking = null;
  let watched = null; // the filter
  dialog.addEventListener("close", () => asking?.abort());
  parent.append(dialog);

  const heading = element("h2", "Watch this area");
  heading.id = "watch-area-title";
  const sentence = element("p");
  const content = element("div", "", "content");
  const outcome = element("p", "", "outcome");
  outcome.role = "status";
  const dismiss = button("Close");
  dismiss.addEventListener("click", () => dialog.close());
  dialog.append(heading, sentence, content, outcome, dismiss);

  /** Shows what the caller can do: choose an endpoint, or what is missing for that. */
  async function show(signal) {
    content.replaceChildren(element("p", "Loading…"));
    try {
      if (!hasToken()) {
        content.replaceChildren(element("p", NEEDED));
        return;
      }
      const { triggerEndpoints } = await ask(ENDPOINTS, {}, signal);
      content.replaceChildren(...choices(triggerEndpoints.nodes));
      content.querySelector("input").focus();
    } catch (error) {
      if (!signal.aborted) {
        content.replaceChildren(element("p", missing(error)));
      }
    }
  }

  function choices(endpoints) {
    const form = element("form");
    form.autocomplete = "off";
    const name = element("input");
    Object.assign(name, { name: "name", required: true, maxLength: LONGEST_NAME, value: suggested(watched) });
    const endpoint = element("select");
    endpoint.name = "endpoint";
    endpoint.append(...endpoints.map(endpointOption), option("", "my inbox only"));
    const create = element("button", "Watch");
    form.append(labelled("Name", name), labelled("Send webhooks to", endpoint), create);
    form.addEventListener("submit", (submit) => {
      submit.preventDefault();
      watch(form);
    });
    return endpoints.length ? [form] : [form, ...howToCreate()];
  }

  async function watch(form) {
    const { name, endpoint } = form.elements;
    const submit = form.querySelector("button");
    submit.disabled = true;
    outcome.textContent = "";
    try {
      const input = { name: name.value.trim(), filter: watched, endpointId: endpoint.value || null };
      const { createWatch } = await ask(CREATE_WATCH, { input }, asking.signal);
      const where = endpoint.value ? "a webhook" : "an event in your inbox";
      outcome.textContent = `“${createWatch.watch.name}” is watched: each such event becomes ${where}.`;
      content.replaceChildren();
      dismiss.focus();
    } catch (error) {
      submit.disabled = false;
      outcome.textContent = missing(error);
    }
  }

  return {
    async open({ startTime, endTime, ...filter }) {
      asking?.abort();
      asking = new AbortController();
      watched = filter;
      sentence.textContent = `From now on, ${inWords(filter)}.`;
      outcome.textContent = "";
      if (!dialog.open) {
        dialog.showModal();
      }
      await show(asking.signal);
    },
  };
}

/** What is wrong, in words; of a missing scope, what is needed. */
const missing = (error) => (error instanceof Refused && MISSING_SCOPE.includes(error.code) ? NEEDED : wording(error));

function howToCreate() {
  const link = element("a", "GraphiQL");
  link.href = address("graphql");
  const sentence = element("p", "You have no endpoint yet, so nothing can be sent to a program of yours. Create one in ");
  sentence.append(link, ", and keep the secret that is answered, with which webhooks are signed:");
  return [sentence, element("pre", NEW_ENDPOINT)];
}

function endpointOption({ endpointId, url, description, state }) {
  const text = description ? `${description} (${url})` : url;
  return option(endpointId, state === "ENABLED" ? text : `${text}, ${state.toLowerCase()}`);
}

function option(value, text) {
  const made = element("option", text);
  made.value = value;
  return made;
}

function button(text) {
  const made = element("button", text);
  made.type = "button";
  return made;
}

function labelled(text, control) {
  const label = element("label", `${text} `);
  label.append(control);
  return label;
}

/** events of magnitude 4.5 or more, between 30° and 40° north … */
function inWords({ types, minMagnitude, maxMagnitude, minDepth, maxDepth, box }) {
  const facts = [
    range("of magnitude", minMagnitude, maxMagnitude, magnitude),
    range("at a depth of", minDepth, maxDepth, (km) => `${decimal(km, 0)} km`),
    box && `from ${degrees(box.minLat, "N", "S")} to ${degrees(box.maxLat, "N", "S")}`,
    box && `and from ${degrees(box.minLon, "E", "W")} to ${degrees(box.maxLon, "E", "W")}`,
  ].filter(Boolean);
  const what = types ? `events of the type ${types.join(" or ")}` : "events";
  return facts.length ? `${what} ${facts.join(" ")}` : `all ${what}, since no filter is set`;
}

function range(name, least, greatest, written) {
  if (least === undefined && greatest === undefined) {
    return null;
  }
  if (greatest === undefined) {
    return `${name} ${written(least)} or more`;
  }
  return least === undefined ? `${name} ${written(greatest)} or less` : `${name} ${written(least)} to ${written(greatest)}`;
}

const degrees = (value, positive, negative) => `${Math.abs(value)}° ${value < 0 ? negative : positive}`;

/** A name by which the watch is found again. */
function suggested({ minMagnitude, box }) {
  const size = minMagnitude === undefined ? "Events" : `Magnitude ${magnitude(minMagnitude)} or more`;
  return box ? `${size}, ${degrees(box.minLat, "N", "S")} ${degrees(box.minLon, "E", "W")}` : size;
}
