// Keeps a map moving smoothly where it is drawn slowly, as without a graphics card: while it moves, it is drawn lightly.

const LONG_MS = 40; // a frame, at less than 25 a second
const JUDGED = 8; // frames, most of which are long where a map is slow; one or two may be long for other reasons

/**
 * @param {object} map  of MapLibre
 * @param {(isLight: boolean) => void} lighten  called at the beginning and at the end of a movement
 */
export function lightenWhileMoving(map, lighten) {
  let isSlow = false; // it stays so: the machine is the same
  let judged = 0; // frames
  let long = 0; // of them

  function judge(ms) {
    judged += 1;
    long += ms > LONG_MS;
    if (!isSlow && judged === JUDGED) {
      isSlow = long > JUDGED / 2;
      [judged, long] = [0, 0];
      if (isSlow && map.isMoving()) {
        lighten(true);
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
  map.on("movestart", () => isSlow && lighten(true));
  map.on("moveend", () => isSlow && lighten(false));
}
