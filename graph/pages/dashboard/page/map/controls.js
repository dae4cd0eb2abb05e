// The buttons on the map.

import { element } from "../html.js";
import { svg } from "./svg.js";

const ICONS = {
  in: "M4 10H16M10 4V16",
  out: "M4 10H16",
  globe: "M10 2.5A7.5 7.5 0 1 0 10 17.5A7.5 7.5 0 1 0 10 2.5M2.5 10H17.5M10 2.5C5.5 7 5.5 13 10 17.5C14.5 13 14.5 7 10 2.5",
  world: "M3 7V3H7M13 3H17V7M17 13V17H13M7 17H3V13",
  plates: "M2 14L6 9L9 12L13 5L15 8L18 4",
};

/**
 * @param {HTMLElement} frame
 * @param {object} actions  what each button does
 * @param {{isGlobe: boolean, hasPlates: boolean}} chosen
 */
export function controls(frame, { zoomIn, zoomOut, setGlobe, showWorld, setPlates, searchArea }, chosen) {
  const search = element("button", "Search this area", "search-area");
  search.type = "button";
  search.hidden = true;
  search.addEventListener("click", () => {
    search.hidden = true;
    searchArea();
  });
  const column = element("div", "", "controls");
  column.role = "group";
  column.ariaLabel = "Map";
  column.append(
    button("in", "Zoom in", zoomIn),
    button("out", "Zoom out", zoomOut),
    button("world", "Whole world", showWorld),
    toggle("globe", "Globe", chosen.isGlobe, setGlobe),
    toggle("plates", "Plate boundaries", chosen.hasPlates, setPlates),
  );
  frame.append(column, search);
  return {
    /** Offers to search the area that the map shows, or does not. */
    offerSearch(isOffered) {
      search.hidden = !isOffered;
    },
  };
}

function button(icon, name, onClick) {
  const made = element("button", "", icon);
  made.type = "button";
  made.title = made.ariaLabel = name;
  made.append(svg("svg", { viewBox: "0 0 20 20", width: 20, height: 20, "aria-hidden": "true" }, svg("path", { d: ICONS[icon] })));
  made.addEventListener("click", () => onClick(made));
  return made;
}

function toggle(icon, name, isPressed, onToggle) {
  const made = button(icon, name, () => {
    made.ariaPressed = String(made.ariaPressed !== "true");
    onToggle(made.ariaPressed === "true");
  });
  made.ariaPressed = String(isPressed);
  return made;
}
