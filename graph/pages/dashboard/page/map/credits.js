// Whose data the map shows, as their licences ask.

import { element } from "../html.js";

/** @param {HTMLElement} place */
export function credits(place) {
  const text = element("p", "", "credits");
  text.append(
    "Land: ",
    link("Natural Earth", "https://www.naturalearthdata.com/"),
    ". Plates: ",
    link("Bird (2003)", "https://doi.org/10.1029/2001GC000252"),
    ", ",
    link("Nordpil", "https://github.com/fraxen/tectonicplates"),
    ", ",
    link("ODC-BY", "https://opendatacommons.org/licenses/by/1-0/"),
    ".",
  );
  place.append(text);
}

function link(text, href) {
  const made = element("a", text);
  made.href = href;
  made.rel = "noopener noreferrer";
  return made;
}
