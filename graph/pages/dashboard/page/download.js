// Saves a file of the service that is read with the token, which a link cannot send.

import { authorized, hasToken, refusal } from "./graph.js";

const KEPT_MS = 60_000; // the browser may read the file after the click

/**
 * Makes the links of a place send the token, if the page has one.
 *
 * @param {HTMLElement} place
 * @param {(work: () => Promise<void>) => void} begin  runs a download, and says what goes wrong with it
 */
export function downloadsOf(place, begin) {
  place.addEventListener("click", (click) => {
    const link = click.target.closest("a");
    if (link && hasToken()) {
      click.preventDefault();
      begin(() => download(link.href, link.download));
    }
  });
}

/** @throws {import("./graph.js").Refused} where the service refuses the file */
async function download(url, name) {
  const response = await fetch(url, { headers: authorized() });
  if (!response.ok) {
    throw refusal(response, await response.json().catch(() => null));
  }
  const file = document.createElement("a");
  file.href = URL.createObjectURL(await response.blob());
  file.download = name;
  file.click();
  setTimeout(() => URL.revokeObjectURL(file.href), KEPT_MS);
}
