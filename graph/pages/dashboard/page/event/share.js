// Shares the address of an event: by the system's own means where it has them, else by a copy.

import { element } from "../html.js";
import { pageOf } from "./event_address.js";
import { title } from "./event_facts.js";

/**
 * A button, and the place that says what has become of it.
 *
 * @param {() => import("../documents.js").QuakeEvent} event  to share
 * @returns {HTMLElement[]}
 */
export function shareButton(event) {
  const button = element("button", "Share");
  button.type = "button";
  const outcome = element("span", "", "outcome");
  outcome.role = "status";
  button.addEventListener("click", async () => {
    outcome.textContent = "";
    outcome.textContent = await share(event());
  });
  return [button, outcome];
}

/** @returns {Promise<string>} what to tell of it */
async function share(event) {
  const url = pageOf(event.eventId);
  const how = { title: title(event), url };
  if (navigator.canShare?.(how)) {
    try {
      await navigator.share(how);
      return "";
    } catch ({ name }) {
      if (name === "AbortError") {
        return ""; // the person has changed their mind
      }
    }
  }
  try {
    await navigator.clipboard.writeText(url);
    return "Address copied.";
  } catch {
    return `Copy this address: ${url}`; // only a page that was loaded securely may copy
  }
}
