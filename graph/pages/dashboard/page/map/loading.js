// Loads MapLibre GL for a map that comes into view, once the browser has nothing more urgent to do.

import { script, styleSheet, workerUrl } from "../third_party.js";

const LONGEST_WAIT_MS = 2000; // for an idle moment
const NEAR = "200px"; // of the window: a map so close is loaded

/** Calls back when an element is in view or nearly so, in an idle moment. */
export function whenShown(element, callback) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) {
        observer.disconnect();
        whenIdle(callback);
      }
    },
    { rootMargin: NEAR },
  );
  observer.observe(element);
}

/** Calls back in an idle moment; a browser without such moments takes the next one. */
export function whenIdle(callback) {
  const wait = globalThis.requestIdleCallback ?? setTimeout;
  wait(() => callback(), { timeout: LONGEST_WAIT_MS });
}

/** MapLibre, ready to make maps. */
export async function mapLibre() {
  if (!document.createElement("canvas").getContext("webgl2")) {
    throw new Error("this browser has no WebGL");
  }
  const [worker] = await Promise.all([
    workerUrl("maplibre-gl-worker.js"),
    script("maplibre-gl.js"),
    styleSheet("maplibre-gl.css"),
  ]);
  globalThis.maplibregl.setWorkerUrl(worker);
  return globalThis.maplibregl;
}
