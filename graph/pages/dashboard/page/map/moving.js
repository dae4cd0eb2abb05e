// Keeps a map moving smoothly where it is drawn slowly, as without a graphics card: while it moves, it goes without the
// lines of coasts, borders and plates, which take a third of a frame's time.

const LONG_MS = 40; // a frame, at less than 25 a second
const JUDGED = 8; // frames, most of which are long where a map is slow; one or two may be long for other reasons

/**
 * @param {object} map  of MapLibre
 * @param {() => string[]} lines  the layers to go without
 */
export function lightenWhileMoving(map, lines) {
  let isSlow = false; // it stays so: the machine is the same
  let judged = 0; // frames
  let long = 0; // of them

  const show = (opacity) => lines().forEach((layer) => map.setPaintProperty(layer, "line-opacity", opacity));

  function judge(ms) {
    judged += 1;
    long += ms > LONG_MS;
    if (!isSlow && judged === JUDGED) {
      isSlow = long > JUDGED / 2;
      [judged, long] = [0, 0];
      if (isSlow && map.isMoving()) {
        show(0);
      }
    }
  }

  map.on("render", () => {
    if (!isSlow && map.isMoving()) {
      // The next frame of the browser, since that of the map may wait for a hand that holds it.
      const { currentTime } = document.timeline;
      requestAnimationFrame(() => judge(document.timeline.currentTime - currentTime));
    }
  });
  map.on("movestart", () => isSlow && show(0));
  map.on("moveend", () => isSlow && show(1));
}
