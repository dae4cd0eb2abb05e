// Links to the exports of the events that are shown, in every format that the service has.

import { authorized, hasToken } from "./graph.js";

const FORMATS = [
  ["CSV", "csv"],
  ["GeoJSON", "geojson"],
  ["JSON lines", "ndjson"],
  ["Parquet", "parquet"],
  ["Arrow", "arrow"],
];

/** @param {HTMLElement} list */
export function exportLinks(list) {
  list.addEventListener("click", (click) => {
    const link = click.target.closest("a");
    if (link && hasToken()) {
      click.preventDefault();
      download(link);
    }
  });
  return {
    /** @param {object} filter  an EventFilter */
    show(filter) {
      list.replaceChildren(...FORMATS.map(([name, ending]) => entry(name, ending, filter)));
    },
  };
}

function entry(name, ending, filter) {
  const link = document.createElement("a");
  link.textContent = name;
  link.href = `export/events.${ending}?${new URLSearchParams({ filter: JSON.stringify(filter) })}`;
  link.download = `events.${ending}`;
  const item = document.createElement("li");
  item.append(link);
  return item;
}

/** Downloads with the token, which a link cannot send. */
async function download(link) {
  const response = await fetch(link.href, { headers: authorized() });
  const file = document.createElement("a");
  file.href = URL.createObjectURL(await response.blob());
  file.download = response.ok ? link.download : "error.json";
  file.click();
  URL.revokeObjectURL(file.href);
}
