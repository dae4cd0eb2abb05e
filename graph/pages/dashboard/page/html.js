// Elements of HTML. Text stays text: the page's policy allows no markup to be made of it.

/** An element with text. */
export function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) {
    made.className = className;
  }
  return made;
}
