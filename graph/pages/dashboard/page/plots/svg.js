// Elements of SVG, and drawings that are made anew for each width, so that text and circles keep their size.

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

/**
 * Calls back with the size to draw in, now and whenever the drawing's width changes.
 *
 * @param {SVGSVGElement} drawing
 * @param {(width: number) => number} heightOf
 * @param {(width: number, height: number) => void} draw
 */
export function onSize(drawing, heightOf, draw) {
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.round(drawing.clientWidth);
    if (width && width !== drawn) {
      drawn = width;
      const height = Math.round(heightOf(width));
      drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
      drawing.setAttribute("height", height);
      draw(width, height);
    }
  }).observe(drawing);
}

/** How high a plot of that width is. */
export function plotHeight(width) {
  return Math.min(320, Math.max(220, width / 2));
}

/**
 * The axes of a plot: lines across, labels beside them, and what is measured.
 *
 * @param {{left: number, right: number, top: number, bottom: number}} area  px
 * @param {{at: number, label: string}[]} xTicks  places in px
 * @param {{at: number, label: string}[]} yTicks
 * @param {{x: string, y: string}} titles
 */
export function axes({ left, right, top, bottom }, xTicks, yTicks, titles) {
  return svg(
    "g",
    { class: "axes" },
    ...xTicks.flatMap(({ at, label }) => [
      svg("line", { x1: at, x2: at, y1: top, y2: bottom }),
      svg("text", { x: at, y: bottom + 16, "text-anchor": "middle" }, label),
    ]),
    ...yTicks.flatMap(({ at, label }) => [
      svg("line", { x1: left, x2: right, y1: at, y2: at }),
      svg("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, label),
    ]),
    svg("text", { x: right, y: bottom + 34, "text-anchor": "end" }, titles.x),
    svg("text", { x: left - 30, y: top - 10 }, titles.y),
  );
}
