// Choices that outlive a visit. A browser that keeps nothing starts with the usual ones.

/** What is kept under a name; null if there is nothing. */
export function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text under a name. */
export function remember(name, text) {
  try {
    localStorage.setItem(name, text);
  } catch {
    // It lasts as long as the page, then.
  }
}
