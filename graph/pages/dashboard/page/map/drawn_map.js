// The map as MapLibre draws it: the base map, plate boundaries, events or their numbers, and what is marked.

import { BaseMap } from "./base_map.js";
import { clusterFeatures } from "./cluster_features.js";
import { coloursOf, onScheme } from "./colours.js";
import { circleRadius, collection, colourEvents, mapStyle, point, recolour, sizeEvents, sizeFactor } from "./layers.js";
import { lightenWhileMoving } from "./moving.js";
import { frameOf, placesOf } from "./outline.js";
import { pick, reachOf } from "./picking.js";
import { setPlatesAside, showPlates } from "./plates.js";
import { sightingMarkers } from "./sighting_rings.js";
import { clusterLines, eventLines, tip } from "./tip.js";
import { radius } from "../scales.js";

const RING_MS = 6000; // for how long an arrival is ringed
const CENTRE = [160, 12]; // the Pacific and its ring of earthquakes as a whole
const CLOSEST = 12; // zoom, beyond which the coasts are too coarse
const CLUSTER_STEPS = 2; // zooms, into a cluster
const GLOBE_UNTIL = 4; // zoom, from which on a globe's view has edges
const WORLD = { west: -180, south: -90, east: 180, north: 90 };
const EDGE_PX = 40; // around an area that the map is fitted to

export class DrawnMap {
  #drawn = new Map(); // eventId → event, on the map one by one
  #noun = "event";
  #selected = null;
  #colouring = null;

  /**
   * @param {object} maplibregl
   * @param {HTMLElement} figure
   * @param {HTMLElement} frame  of the map, within the figure
   * @param {object} options
   * @param {"globe" | "mercator"} options.projection
   * @param {(eventId: string, place: {x: number, y: number}) => void} options.onSelect
   * @param {(sightingId: string) => void} options.onSelectSighting
   * @param {(isByPerson: boolean) => void} options.onMove  the map has come to rest elsewhere
   * @param {() => void} options.onFailure  the base map could not be loaded
   */
  constructor(maplibregl, figure, frame, options) {
    this.maplibregl = maplibregl;
    this.figure = figure;
    this.frame = frame;
    this.options = options;
    this.colours = coloursOf(figure);
    const canvas = frame.querySelector(".canvas");
    this.map = new maplibregl.Map({
      container: canvas,
      style: mapStyle(options.projection, this.colours),
      center: CENTRE,
      zoom: this.#worldZoom(options.projection),
      minZoom: -1,
      maxZoom: CLOSEST,
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      fadeDuration: 0,
      locale: { "Map.Title": "Map of the events" },
    });
    this.map.touchZoomRotate.disableRotation();
    this.map.keyboard.disableRotation();
    this.tip = tip(frame);
    this.rings = sightingMarkers(maplibregl, this.map, options.onSelectSighting);
    this.ready = new Promise((resolve) => this.map.once("load", resolve)).then(() => this.#begin());
  }

  #begin() {
    const { map } = this;
    this.base = new BaseMap(map, () => this.colours, this.options.onFailure);
    lightenWhileMoving(map, (isLight) => this.#lighten(isLight));
    sizeEvents(map, this.frame.clientWidth);
    map.on("resize", () => sizeEvents(map, this.frame.clientWidth));
    map.on("moveend", ({ originalEvent }) => this.options.onMove(Boolean(originalEvent)));
    map.on("click", (click) => this.#click(click));
    map.on("mousemove", (move) => this.#point(move));
    map.on("mouseout", () => this.tip.hide());
    map.on("movestart", () => this.tip.hide());
    onScheme(() => this.#recolour());
  }

  /** Leaves out, or brings back, the lines: they take a third of a frame's time, and more on a globe. */
  #lighten(isLight) {
    this.base.lines.forEach((layer) => this.map.setPaintProperty(layer, "line-opacity", isLight ? 0 : 1));
    setPlatesAside(this.map, isLight);
  }

  #recolour() {
    this.colours = coloursOf(this.figure);
    recolour(this.map, this.colours);
    this.base.recolour();
    if (this.#colouring) {
      colourEvents(this.map, this.colours, this.#colouring);
    }
  }

  /** Draws these events one by one, the largest at the back. */
  showEvents(events, colouring) {
    this.#colouring = colouring;
    this.#drawn = new Map(events.map((event) => [event.eventId, event]));
    colourEvents(this.map, this.colours, colouring);
    const largestFirst = [...this.#drawn.values()].sort((one, other) => other.mag - one.mag);
    this.#fill("events", largestFirst.map((event) => featureOf(event, colouring)));
    this.#mark();
  }

  /** Draws the numbers of events by areas. */
  showCells(cells, cellDegrees, areaDegrees, noun) {
    this.#noun = noun;
    this.#fill("clusters", clusterFeatures(cells, cellDegrees, areaDegrees));
  }

  showPlates(isShown) {
    return showPlates(this.map, isShown);
  }

  select(eventId) {
    this.#selected = eventId;
    this.#mark();
  }

  #mark() {
    const event = this.#drawn.get(this.#selected);
    this.#fill("selected", event ? [featureOf(event, this.#colouring)] : []);
    this.figure.dataset.selected = event ? this.#selected : "";
  }

  /** Rings an arrival for a while. */
  ring(eventId) {
    const event = this.#drawn.get(eventId);
    if (event) {
      const element = document.createElement("div");
      element.className = "arrival";
      element.ariaHidden = "true";
      const size = `${2 * circleRadius(event.mag, sizeFactor(this.frame.clientWidth)) + 8}px`;
      Object.assign(element.style, { width: size, height: size });
      const holder = document.createElement("div"); // which MapLibre moves
      holder.className = "arrival-place";
      holder.append(element);
      const marker = new this.maplibregl.Marker({ element: holder, opacityWhenCovered: "0" });
      marker.setLngLat([event.lon, event.lat]).addTo(this.map);
      setTimeout(() => marker.remove(), RING_MS);
    }
  }

  showSightings(sightings, now) {
    this.rings.show(sightings, now);
  }

  /** Frames an area and shows all of it; null frames none. */
  showArea(box) {
    this.#fill("area", box ? [frameOf(box)] : []);
    this.map.setLayoutProperty("area", "visibility", box ? "visible" : "none"); // an empty layer costs a frame time, too
    if (box) {
      this.map.fitBounds(placesOf(box), { padding: EDGE_PX, maxZoom: CLOSEST - 2 });
    }
  }

  /** @param {"globe" | "mercator"} type */
  project(type) {
    this.map.setProjection({ type });
    this.showWorld(type);
  }

  showWorld(type = this.projection) {
    this.map.easeTo({ center: CENTRE, zoom: this.#worldZoom(type) });
  }

  get projection() {
    return this.map.getProjection()?.type ?? this.options.projection;
  }

  /** What the map shows: bounds in degrees, whose longitudes run on beyond ±180. */
  view() {
    const zoom = this.map.getZoom();
    if (this.projection === "globe" && zoom < GLOBE_UNTIL) {
      return { bounds: WORLD, zoom };
    }
    const bounds = this.map.getBounds();
    return {
      bounds: {
        west: bounds.getWest(),
        south: Math.max(-90, bounds.getSouth()),
        east: bounds.getEast(),
        north: Math.min(90, bounds.getNorth()),
      },
      zoom,
    };
  }

  #worldZoom(projection) {
    const { clientWidth: width, clientHeight: height } = this.frame;
    const globe = Math.log2((1.12 * Math.min(width, height) * Math.PI) / 512); // which looks smaller from near
    return Math.max(-1, projection === "globe" ? globe : Math.log2(Math.max(width, height) / 512));
  }

  #fill(source, features) {
    this.map.getSource(source).setData(collection(features));
  }

  #click({ point: at, originalEvent }) {
    const found = pick(this.map, at, reachOf(originalEvent));
    if (!found) {
      return;
    }
    const { eventId } = found.feature.properties;
    if (eventId) {
      const { left, top } = this.frame.getBoundingClientRect();
      this.options.onSelect(eventId, { x: left + found.place.x, y: top + found.place.y });
    } else {
      const zoom = Math.min(CLOSEST, this.map.getZoom() + CLUSTER_STEPS);
      this.map.easeTo({ center: this.map.unproject(found.place), zoom }, { originalEvent });
    }
  }

  #point({ point: at, originalEvent }) {
    const found = originalEvent.buttons ? null : pick(this.map, at, reachOf(originalEvent));
    this.map.getCanvas().style.cursor = found ? "pointer" : "";
    if (!found) {
      this.tip.hide();
      return;
    }
    const { properties } = found.feature;
    const event = this.#drawn.get(properties.eventId);
    this.tip.show(event ? eventLines(event) : clusterLines(properties, this.#noun), found.place);
  }
}

const featureOf = (event, colouring) =>
  point(event.lon, event.lat, {
    eventId: event.eventId,
    mag: event.mag,
    class: colouring.of(event),
    r: radius(event.mag),
  });
