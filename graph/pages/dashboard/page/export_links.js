// Links to the exports of the events that are shown, in every format that the service has.

const FORMATS = [
  ["CSV", "csv"],
  ["GeoJSON", "geojson"],
  ["JSON lines", "ndjson"],
  ["Parquet", "parquet"],
  ["Arrow", "arrow"],
];

/** @param {object} filter  an EventFilter */
export const exportLinks = (filter) => FORMATS.map(([name, ending]) => entry(name, ending, filter));

function entry(name, ending, filter) {
  const link = document.createElement("a");
  link.textContent = name;
  link.href = `export/events.${ending}?${new URLSearchParams({ filter: JSON.stringify(filter) })}`;
  link.download = `events.${ending}`;
  const item = document.createElement("li");
  item.append(link);
  return item;
}
