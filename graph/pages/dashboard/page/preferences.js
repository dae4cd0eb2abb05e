// How people like times and distances to be written. The browser remembers it; it is not part of the address, so that a
// shared address shows each its own.

const CHOICES = { zone: ["UTC", "local"], units: ["km", "mi"] };
const chosen = new EventTarget();

function read(name) {
  try {
    const stored = localStorage.getItem(name);
    return CHOICES[name].includes(stored) ? stored : CHOICES[name][0];
  } catch {
    return CHOICES[name][0]; // a browser may refuse to store anything
  }
}

/** @returns {"UTC" | "local"} the time zone of what is shown */
export const zone = () => read("zone");

/** @returns {"km" | "mi"} the unit of lengths */
export const units = () => read("units");

/** Calls back after each change, also after one in another tab. */
export function onPreferences(changed) {
  chosen.addEventListener("change", changed);
  addEventListener("storage", ({ key }) => key in CHOICES && changed());
}

/** A button that changes a preference to the other choice, and says which one it is. */
export function preferenceButton(button, name, label) {
  const show = () => {
    button.textContent = read(name);
    button.ariaLabel = `${label}: ${read(name)}`;
    button.title = `${label} are in ${read(name)}; press to change that`;
  };
  button.addEventListener("click", () => {
    const [usual, other] = CHOICES[name];
    localStorage.setItem(name, read(name) === usual ? other : usual);
    show();
    chosen.dispatchEvent(new Event("change"));
  });
  show();
}
