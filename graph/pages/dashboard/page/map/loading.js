// Loads MapLibre GL for a map that comes into view, once the browser has nothing more urgent to do.

import { whenIdle } from "../idle.js";
import { onNear } from "../near.js";
import { script, styleSheet, workerUrl } from "../third_party.js";

const NEAR = "200px"; // of the window: a map so close is loaded

/** Calls back when an element is in view or nearly so, in an idle moment. */
export function whenShown(element, callback) {
  const end = onNear(element, NEAR, (isNear) => {
    if (isNear) {
      end();
      whenIdle(callback);
    }
  });
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
