// What stands on a map that is drawn: its buttons and its scale, and its name for screen readers.

import { element } from "../html.js";
import { controls } from "./controls.js";
import { remember, remembered } from "./remembered.js";
import { scaleBar } from "./scale_bar.js";
import { areaOf } from "./view_box.js";

const HINT = "Arrow keys move the map, plus and minus zoom.";

/**
 * @param {import("./drawn_map.js").DrawnMap} drawn
 * @param {HTMLElement} frame
 * @param {object} options
 * @param {string} options.captionId  of the text that says what the map shows
 * @param {"km" | "mi"} options.units  of the scale
 * @param {(area: {south: number, north: number, west: number, east: number}) => void} options.onArea  to be searched
 * @param {(isShown: boolean) => void} options.onPlates
 */
export function furnish(drawn, frame, { captionId, units, onArea, onPlates }) {
  const hasPlates = remembered("plates") !== "hidden";
  const buttons = controls(
    frame,
    {
      zoomIn: () => drawn.map.zoomIn(),
      zoomOut: () => drawn.map.zoomOut(),
      showWorld: () => drawn.showWorld(),
      searchArea: () => onArea(areaOf(drawn.view().bounds)),
      setGlobe(isGlobe) {
        remember("projection", isGlobe ? "globe" : "flat");
        drawn.project(isGlobe ? "globe" : "mercator");
      },
      setPlates(isShown) {
        remember("plates", isShown ? "shown" : "hidden");
        onPlates(isShown);
      },
    },
    { isGlobe: drawn.projection === "globe", hasPlates },
  );
  onPlates(hasPlates);
  nameCanvas(drawn.map.getCanvas(), frame, captionId);

  const scale = scaleBar(frame);
  let shownIn = units;
  const measure = () => scale.show(drawn.map.getCenter().lat, drawn.map.getZoom(), shownIn);
  drawn.map.on("move", measure);
  measure();

  return {
    offerSearch: buttons.offerSearch,
    /** @param {"km" | "mi"} chosen */
    setUnits(chosen) {
      shownIn = chosen;
      measure();
    },
  };
}

function nameCanvas(canvas, frame, captionId) {
  const hint = element("p", HINT, "hint");
  hint.id = "map-hint";
  frame.append(hint);
  canvas.role = "application"; // so that a screen reader leaves it the arrow keys
  canvas.setAttribute("aria-roledescription", "map");
  canvas.setAttribute("aria-describedby", `${captionId} ${hint.id}`);
}
