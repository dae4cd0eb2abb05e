// The map: events as circles, sized by magnitude and coloured by age or depth, over the world's land, and what people
// report as rings. It holds what there is to show; `drawn_map.js` draws it once MapLibre is there, or `static_world.js`
// where it cannot be.

import { element } from "../html.js";
import { caption } from "./caption.js";
import { credits } from "./credits.js";
import { DrawnMap } from "./drawn_map.js";
import { furnish } from "./furniture.js";
import { drawLegends } from "./legends.js";
import { mapLibre, whenShown } from "./loading.js";
import { remembered } from "./remembered.js";
import { StaticWorld } from "./static_world.js";
import { areaDegrees, boxOfAreas, lies } from "./view_box.js";
import { ViewWatch } from "./view_watch.js";

const MOST_OVER_CELLS = 200; // events of a view, the largest, that are drawn over the numbers of the others

/**
 * @param {HTMLElement} figure  with a heading, `.map-frame`, `.legends`, `.sightings-legend` and a caption
 * @param {object} options
 * @param {(eventId: string, place: {x: number, y: number}) => void} options.onSelect  place in the window, px
 * @param {(sightingId: string) => void} options.onSelectSighting
 * @param {(area: {south: number, north: number, west: number, east: number}) => void} options.onArea  to be searched
 * @param {(texts: string[]) => void} [options.onProblem]  what is wrong with the map, in sentences; none where nothing is
 */
export function worldMap(figure, { onSelect, onSelectSighting, onArea, onProblem = () => {} }) {
  const frame = figure.querySelector(".map-frame");
  const canvas = element("div", "", "canvas");
  frame.append(canvas);
  credits(frame);

  let shown = null; // what `show` was given, and its events by their ids
  let answer = null; // what the view holds, where not all events are loaded
  let degrees = 0; // of the areas that it counts by
  let reported = { sightings: [], now: 0 };
  let area = null;
  let selected = null;
  let units = "km";
  let drawn = null; // the map, once it is there
  let still = null; // the picture in its place
  let furniture = null; // what stands on it
  let view = null;
  const problems = new Map(); // part → texts

  function tell(part, texts) {
    problems.set(part, texts);
    onProblem([...problems.values()].flat());
  }

  const noun = () => (shown.filter.types ? "event" : "earthquake");

  /** The events to draw one by one: all that are known, or over numbers of areas the largest of the view. */
  function oneByOne() {
    const known = [...shown.events.values()];
    if (!answer) {
      return shown.isWhole ? known : largestOf(known);
    }
    if (answer.events) {
      return [...new Map([...known, ...answer.events].map((event) => [event.eventId, event])).values()];
    }
    const { bounds, zoom } = drawn.view();
    const box = boxOfAreas(bounds, areaDegrees(zoom));
    return largestOf(known.filter((event) => lies(event, box)));
  }

  function draw() {
    if (!shown) {
      return;
    }
    const events = drawn ? oneByOne() : [...shown.events.values()];
    const cells = answer?.cells ?? [];
    drawn?.showEvents(events, shown.colouring);
    drawn?.showCells(cells, answer?.degrees, degrees, noun());
    const pictured = still?.showEvents(events, shown.colouring);
    figure.dataset.drawn = drawn ? events.length : (pictured ?? 0);
    figure.dataset.counted = cells.reduce((sum, { count }) => sum + count, 0);
    drawLegends(figure.querySelector(".legends"), shown.colouring, frame.clientWidth, cells.length ? `${noun()}s` : null);
    describe(events.length);
  }

  function describe(drawnEvents) {
    const { events, count } = shown;
    figure.querySelector("figcaption").textContent = caption({
      total: Math.max(count ?? 0, events.size), // arrivals are counted later than they are shown
      largest: largestOf([...events.values()], 1)[0], // which is among them, also if they are not all
      drawn: drawnEvents,
      answer,
      noun: noun(),
      sightings: reported.sightings.length,
    });
  }

  function drawSightings() {
    drawn?.showSightings(reported.sightings, reported.now);
  }

  async function begin() {
    try {
      const maplibregl = await mapLibre();
      const begun = new DrawnMap(maplibregl, figure, frame, {
        projection: remembered("projection") === "globe" ? "globe" : "mercator",
        onSelect,
        onSelectSighting,
        onMove: moved,
        onFailure: () => tell("land", ["The map's land could not be loaded."]),
      });
      await begun.ready;
      fill(begun);
    } catch (error) {
      stand(error);
    }
  }

  /** Puts on the map what there is to show. */
  function fill(begun) {
    drawn = begun;
    figure.map = begun.map; // for tests, and for those who look into the page
    view = new ViewWatch(() => drawn.view(), take, (texts) => tell("view", texts));
    const captionId = figure.querySelector("figcaption").id;
    furniture = furnish(drawn, frame, { captionId, units, onArea, onPlates: drawPlates });
    drawSightings();
    drawn.showArea(area);
    drawn.select(selected);
    if (shown && !shown.isWhole) {
      view.follow(shown.filter);
    }
    draw();
    figure.dataset.state = "drawn";
  }

  async function drawPlates(isShown) {
    try {
      await drawn.showPlates(isShown);
      tell("plates", []);
    } catch {
      tell("plates", ["The plate boundaries could not be loaded."]);
    }
  }

  /** Without MapLibre, the figure says so, and shows a picture. */
  function stand(error) {
    canvas.remove();
    still = new StaticWorld(frame, onSelect);
    const sentence = `The map cannot be drawn: ${error.message}. This picture shows the largest events.`;
    frame.append(element("p", sentence, "still-notice"));
    still.showLand().catch(() => tell("land", ["The map's land could not be loaded."]));
    still.select(selected);
    figure.dataset.state = "still";
    draw();
  }

  /** The map shows another view. */
  function moved(isByPerson) {
    view.rest();
    if (isByPerson) {
      furniture.offerSearch(true);
    }
    if (answer?.cells) {
      draw();
    }
  }

  /** The service has said what the view holds. */
  function take(found, ofDegrees) {
    answer = found;
    degrees = ofDegrees;
    draw();
  }

  figure.dataset.state = "waiting";
  whenShown(frame, begin);

  return {
    /**
     * @param {object} what
     * @param {object} what.filter  an EventFilter with its time
     * @param {import("../documents.js").QuakeEvent[]} what.events  all of them, or the largest
     * @param {boolean} what.isWhole  whether they are all
     * @param {number} what.count  how many there are, by the service
     * @param {import("../scales.js").Colouring} what.colouring
     */
    show({ filter, events, isWhole, count, colouring }) {
      const before = shown;
      const isSame = shown && !shown.isWhole && !isWhole && JSON.stringify(shown.filter) === JSON.stringify(filter);
      shown = {
        filter: isSame ? shown.filter : filter,
        events: new Map(events.map((event) => [event.eventId, event])),
        isWhole,
        count,
        colouring,
      };
      if (!isSame) {
        answer = null;
        view?.follow(isWhole ? null : filter);
      } else if (count !== before.count) {
        view?.refresh(); // the numbers of areas have changed, too
      }
      draw();
    },
    select(eventId) {
      selected = eventId;
      drawn?.select(eventId);
      still?.select(eventId);
    },
    ring: (eventId) => drawn?.ring(eventId),
    /** Rings the sightings that have a position, as they look at a time, epoch milliseconds. */
    showSightings(sightings, now) {
      const before = reported.sightings.length;
      reported = { sightings: sightings.filter(({ position }) => position), now };
      if (reported.sightings.length !== before) {
        figure.querySelector(".sightings-legend").hidden = !reported.sightings.length;
        if (shown) {
          draw();
        }
      }
      drawSightings();
    },
    /** Frames the area of a filter, and shows all of it; null where the filter has none. */
    showArea(box) {
      area = box;
      drawn?.showArea(box);
    },
    /** @param {"km" | "mi"} chosen */
    setUnits(chosen) {
      units = chosen;
      furniture?.setUnits(chosen);
    },
  };
}

const largestOf = (events, most = MOST_OVER_CELLS) =>
  [...events].sort((one, other) => other.mag - one.mag).slice(0, most);
