// Loads the third-party files that the web page lists: from this service, or from the public CDN where the browser checks
// each against its pinned hash. Every file is loaded once, and only when it is needed.

import { address } from "./graph.js";

const FILES = JSON.parse(document.documentElement.dataset.packages);
const IS_LOCAL = "packaged" in document.documentElement.dataset;

/** The page's policy for Trusted Types: a script is one of the listed files, or a blob of one. */
const trusted = globalThis.trustedTypes?.createPolicy("third-party", { createScriptURL: (url) => url }) ?? {
  createScriptURL: (url) => url,
};

const loaded = new Map(); // name → a promise

function once(name, load) {
  if (!loaded.has(name)) {
    loaded.set(name, load());
  }
  return loaded.get(name);
}

/** Loads a classic script, which defines a global. */
export function script(name) {
  return once(name, () => {
    const element = document.createElement("script");
    element.src = trusted.createScriptURL(place(name));
    return added(element, name);
  });
}

/** Loads a style sheet, before the page's own, which may change it. */
export function styleSheet(name) {
  return once(name, () => {
    const element = document.createElement("link");
    element.rel = "stylesheet";
    element.href = place(name);
    return added(element, name);
  });
}

/** The contents of a JSON file. */
export function json(name) {
  return once(name, async () => (await fetched(name)).json());
}

/** The address of a script that a worker can be made of; a worker's own origin has to be the page's. */
export function workerUrl(name) {
  return once(name, async () => {
    const url = IS_LOCAL ? place(name) : URL.createObjectURL(await (await fetched(name)).blob());
    return trusted.createScriptURL(url);
  });
}

function added(element, name) {
  element.integrity = FILES[name].integrity;
  element.crossOrigin = "anonymous";
  return new Promise((resolve, reject) => {
    element.onload = () => resolve();
    element.onerror = () => reject(new Error(`${name} could not be loaded`));
    document.head.prepend(element);
  });
}

async function fetched(name) {
  const response = await fetch(place(name), { integrity: FILES[name].integrity });
  if (!response.ok) {
    throw new Error(`${name} could not be loaded`);
  }
  return response;
}

function place(name) {
  return address(FILES[name].url);
}
