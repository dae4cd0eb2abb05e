// Elements of SVG.

const NAMESPACE = "http://www.w3.org/2000/svg";

/** An element with attributes and children, which may be text. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [attribute, value] of Object.entries(attributes)) {
    element.setAttribute(attribute, value);
  }
  element.append(...children);
  return element;
}
