// What all plots share: uPlot in a figure, as large as its place, in the page's type and colours, with a text in its stead.

import { element } from "../html.js";
import { onNear } from "../near.js";
import { script, styleSheet } from "../third_party.js";

const FONT_PX = 12;
const NEAR = "100%"; // of the window's size: what is farther away is drawn when it comes so near
/** Distances of ticks between whole numbers. */
export const WHOLE_STEPS = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

const DARK = matchMedia("(prefers-color-scheme: dark)");

let loading = null; // a promise of uPlot

function loaded() {
  loading ??= Promise.all([styleSheet("uplot.css"), script("uplot.min.js")]).then(() => globalThis.uPlot);
  return loading;
}

/**
 * @typedef {object} Plot  uPlot in a place
 * @property {?object} drawn  the instance of uPlot; null until it is loaded
 * @property {(name: string) => string} colour  the value of a custom property of CSS, by its name without dashes
 * @property {(data: ?Array) => void} show  shows columns of numbers, the first one ascending; null hides the plot
 * @property {() => void} redraw  draws the same in other colours, or in another time zone
 */

/**
 * Puts a plot into a place, whose size CSS fixes before anything is drawn.
 *
 * @param {HTMLElement} place
 * @param {(look: {axis: Function, colour: Function, uPlot: Function}) => object} options  uPlot's, but for its size; and
 *   `titles`, a function that names what the axes measure: `left`, `right` and `x`, each with a text and a colour's name
 * @returns {Plot}
 */
export function plotIn(place, options) {
  const colours = new Map();
  let data = null;
  let isBegun = false;
  let isNear = false;
  let isDrawn = true; // what there is

  const plot = { drawn: null, colour, show, redraw };

  function colour(name) {
    if (!colours.has(name)) {
      colours.set(name, getComputedStyle(place).getPropertyValue(`--${name}`).trim());
    }
    return colours.get(name);
  }

  function show(given) {
    data = given;
    place.toggleAttribute("data-empty", !data);
    isDrawn = !data;
    if (isNear) {
      draw();
    }
  }

  function draw() {
    if (isDrawn) {
      return;
    }
    isDrawn = true;
    if (isBegun) {
      plot.drawn?.setData(data);
    } else {
      isBegun = true;
      loaded().then(begin, fail);
    }
  }

  function begin(uPlot) {
    const font = `${FONT_PX}px ${getComputedStyle(place).fontFamily}`;
    const given = options({ uPlot, colour, axis: (axis) => ({ ...looks(colour, font), ...axis }) });
    plot.drawn = new uPlot(
      {
        width: place.clientWidth,
        height: place.clientHeight,
        legend: { show: false },
        cursor: { show: false }, // what a pointer does is in pointing.js, for fingers too
        padding: [24, 12, 0, 0],
        ...given,
        hooks: {
          ...given.hooks,
          drawAxes: [...(given.hooks.drawAxes ?? []), (drawn) => write(drawn, given.titles, colour, font)],
        },
      },
      data,
      place,
    );
    new ResizeObserver(() => {
      if (place.clientWidth) {
        plot.drawn.setSize({ width: place.clientWidth, height: place.clientHeight });
      }
    }).observe(place);
  }

  function fail() {
    place.removeAttribute("role");
    place.replaceChildren(element("p", "The plot cannot be drawn: the library for it could not be loaded."));
  }

  function redraw() {
    colours.clear();
    plot.drawn?.redraw(true, true);
  }

  DARK.addEventListener("change", redraw);
  addEventListener("beforeprint", draw);
  onNear(place, NEAR, (near) => {
    isNear = near;
    if (isNear) {
      draw();
    }
  });
  return plot;
}

/** How every axis looks. */
function looks(colour, font) {
  const line = { stroke: () => colour("plot-line"), width: 1 };
  return { stroke: () => colour("plot-text"), font, gap: 6, grid: line, ticks: { show: false } };
}

/** Writes what the axes measure: above the vertical ones and, on the second line, below the horizontal one. */
function write({ ctx, bbox, width, height }, titles, colour, font) {
  const ratio = devicePixelRatio;
  const places = {
    left: { at: 0, top: 2, align: "left" },
    right: { at: width - 2, top: 2, align: "right" },
    x: { at: (bbox.left + bbox.width) / ratio, top: height - FONT_PX - 4, align: "right" },
  };
  ctx.save();
  ctx.scale(ratio, ratio);
  ctx.font = font;
  ctx.textBaseline = "top";
  for (const [name, { text, ink = "plot-text" }] of Object.entries(titles())) {
    ctx.textAlign = places[name].align;
    ctx.fillStyle = colour(ink);
    ctx.fillText(text, places[name].at, places[name].top);
  }
  ctx.restore();
}

/**
 * A figure's parts. Its place is an image to screen readers, named by the heading and described by the caption.
 *
 * @param {HTMLElement} figure  with a heading, a `.plot` and a caption
 */
export function partsOf(figure) {
  const [heading, place, caption] = ["h2", ".plot", "figcaption"].map((name) => figure.querySelector(name));
  heading.id ||= `${figure.id}-title`;
  caption.id ||= `${figure.id}-caption`;
  place.setAttribute("role", "img");
  place.setAttribute("aria-labelledby", heading.id);
  place.setAttribute("aria-describedby", caption.id);
  return { place, caption };
}
