// What a person has chosen for all pages: units and time zone. The browser keeps it, and passes changes to other tabs.

/** @returns {"km" | "mi"} */
export const units = () => (stored("units") === "mi" ? "mi" : "km");

/** @returns {"UTC" | "local"} */
export const zone = () => (stored("zone") === "local" ? "local" : "UTC");

/** Calls back when another tab has changed one of them. */
export function onPreference(draw) {
  addEventListener("storage", ({ key }) => ["units", "zone"].includes(key) && draw());
}

function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // a browser may refuse to store anything
  }
}
