// The colours of the map, which CSS has as custom properties, for light and dark.

const NAMES = ["sea", "land", "coast", "border", "label", "halo", "plate", "area", "cluster", "cluster-text"];
const CLASSES = [1, 2, 3, 4, 5];

/**
 * @param {HTMLElement} figure
 * @returns {Record<string, string>} name → colour; `age-1` and the like are those of the circles
 */
export function coloursOf(figure) {
  const style = getComputedStyle(figure);
  const read = (property) => style.getPropertyValue(property).trim();
  return Object.fromEntries([
    ...NAMES.map((name) => [name, read(`--map-${name}`)]),
    ...["age", "depth"].flatMap((by) => CLASSES.map((number) => [`${by}-${number}`, read(`--${by}-${number}`)])),
    ...["faint", "mark", "page"].map((name) => [name, read(`--${name}`)]),
  ]);
}

/** Calls back whenever the page turns from light to dark, or back. */
export function onScheme(callback) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => callback());
}
