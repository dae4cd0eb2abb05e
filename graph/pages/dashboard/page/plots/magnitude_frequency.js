// How often which magnitudes are: counts on a logarithmic axis, with the Gutenberg-Richter relation that the graph
// estimates from the events at and above the magnitude of completeness.

import { count, counted, decimal, magnitude } from "../format.js";
import { linear, ticks } from "../scales.js";
import { axes, onSize, plotHeight, svg } from "./svg.js";

const MARGINS = { left: 46, right: 14, top: 26, bottom: 42 }; // px

/** @param {HTMLElement} figure */
export function magnitudeFrequency(figure) {
  const drawing = figure.querySelector("svg");
  let size = null;
  let statistics = null;

  function draw() {
    if (!size || !statistics) {
      return;
    }
    const bins = statistics.magnitudeFrequency;
    drawing.replaceChildren();
    if (!bins.length) {
      return;
    }
    const area = {
      left: MARGINS.left,
      right: size.width - MARGINS.right,
      top: MARGINS.top,
      bottom: size.height - MARGINS.bottom,
    };
    const magnitudes = [bins[0].magnitude - 0.1, bins.at(-1).magnitude + 0.2];
    const powers = [-0.15, Math.log10(Math.max(10, bins[0].cumulative)) + 0.1];
    const x = linear(magnitudes, [area.left, area.right]);
    const y = linear(powers, [area.bottom, area.top]);
    const log = (number) => y(Math.log10(number));
    const tenths = Math.round((magnitudes[1] - magnitudes[0]) / 0.1); // closer than which no label tells them apart

    drawing.append(
      axes(
        area,
        ticks(magnitudes, Math.min(tenths, Math.floor(size.width / 50))).map((value) => ({
          at: x(value),
          label: magnitude(value),
        })),
        Array.from({ length: Math.floor(powers[1]) + 1 }, (_, power) => ({ at: y(power), label: count(10 ** power) })),
        { x: "magnitude", y: "events" },
      ),
      ...bins
        .filter((bin) => bin.count)
        .map((bin) =>
          svg("rect", { class: "in-bin", x: x(bin.magnitude) - 3, y: log(bin.count) - 3, width: 6, height: 6 }),
        ),
      ...bins.map((bin) => svg("circle", { class: "cumulative", cx: x(bin.magnitude), cy: log(bin.cumulative), r: 3 })),
      ...fit(statistics, magnitudes[1], powers[0], x, y, area),
    );
  }

  onSize(drawing, plotHeight, (width, height) => {
    size = { width, height };
    draw();
  });

  return {
    /**
     * @param {object} given  CatalogueStatistics
     * @param {string} noun  what it counts: earthquakes alone, unless the filter names types
     */
    show(given, noun) {
      statistics = given;
      figure.querySelector("figcaption").textContent = caption(given, noun);
      draw();
    },
  };
}

/** log10 N = a - b M, from the magnitude of completeness to where the line leaves the plot. */
function fit({ gutenbergRichter: { a, b, completeness: least } }, greatest, leastPower, x, y, area) {
  if (a === null || b === null) {
    return [];
  }
  const end = b > 0 ? Math.min(greatest, (a - leastPower) / b) : greatest;
  return [
    svg("line", { class: "completeness", x1: x(least), x2: x(least), y1: area.top, y2: area.bottom }),
    svg("text", { class: "completeness", x: x(least) + 4, y: area.bottom - 8 }, `complete from ${magnitude(least)}`),
    svg("line", { class: "fit", x1: x(least), y1: y(a - b * least), x2: x(end), y2: y(a - b * end) }),
  ];
}

const VERDICTS = { DOUBTFUL: "Doubtful: ", POOR: "Not to be trusted: " };

function caption({ count: all, gutenbergRichter: relation }, noun) {
  const parts = [`${counted(all, noun)}.`];
  if (relation.b === null) {
    parts.push(`No Gutenberg–Richter relation: ${relation.reason}`);
  } else {
    parts.push(
      `Complete from magnitude ${magnitude(relation.completeness)}, by maximum curvature. Of ${counted(relation.events, noun)} from there,`,
      `b = ${decimal(relation.b, 2)} ± ${decimal(relation.uncertainty, 2)} and a = ${decimal(relation.a, 2)}.`,
    );
    if (relation.reason) {
      parts.push(`${VERDICTS[relation.reliability] ?? ""}${relation.reason}`);
    }
  }
  return parts.join(" ");
}
