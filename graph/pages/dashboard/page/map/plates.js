// The boundaries of tectonic plates. They are loaded when they are first shown.

import { collection } from "./layers.js";

const FILE = `${document.documentElement.dataset.files}/map/plate_boundaries.json`;
const BEYOND_ZOOM = 24; // the greatest that MapLibre takes
const HUNDREDTHS = 100; // the file's numbers a degree

let loaded = null; // a promise of the lines

/** Shows them, or hides them. */
export async function showPlates(map, isShown) {
  map.setLayoutProperty("plates", "visibility", isShown ? "visible" : "none");
  if (isShown) {
    loaded ??= load();
    const coordinates = await loaded;
    map.getSource("plates").setData(
      collection([{ type: "Feature", properties: {}, geometry: { type: "MultiLineString", coordinates } }]),
    );
  }
}

/**
 * Sets them aside for a while, whether they are shown or not. A layer beyond its zooms saves more than an invisible one: the
 * mask of its source, too.
 */
export function setPlatesAside(map, isAside) {
  map.setLayerZoomRange("plates", isAside ? BEYOND_ZOOM : 0, BEYOND_ZOOM);
}

async function load() {
  try {
    const response = await fetch(new URL(FILE, document.baseURI));
    return (await response.json()).map(places);
  } catch (error) {
    loaded = null; // so that the next attempt loads them again
    throw error;
  }
}

/** A line from its first place and the steps from each place to the next. */
function places(numbers) {
  let [lon, lat] = [0, 0];
  return Array.from({ length: numbers.length / 2 }, (_, at) => {
    lon += numbers[2 * at];
    lat += numbers[2 * at + 1];
    return [lon / HUNDREDTHS, lat / HUNDREDTHS];
  });
}
