// Parts of the page that are near the window, so that no others need to be drawn.

/**
 * Says whether an element is near the window: at first, and whenever that changes.
 *
 * @param {HTMLElement} element
 * @param {string} margin  around the window, as CSS has it: within it is near
 * @param {(isNear: boolean) => void} callback
 * @returns {() => void}  ends it
 */
export function onNear(element, margin, callback) {
  const observer = new IntersectionObserver((entries) => callback(entries.at(-1).isIntersecting), { rootMargin: margin });
  observer.observe(element);
  return () => observer.disconnect();
}
