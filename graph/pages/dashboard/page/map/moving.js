// Keeps a map moving smoothly where it is drawn slowly, as without a graphics card: while it moves, it goes without the
// lines of coasts, borders and plates, which take a third of a frame's time.

const JUDGED = 8; // frames
const SLOW_MS = (JUDGED * 1000) / 30; // at less than 30 frames a second

/**
 * @param {object} map  of MapLibre
 * @param {() => string[]} lines  the layers to go without
 */
export function lightenWhileMoving(map, lines) {
  let isSlow = false; // it stays so: the machine is the same
  let begun = 0; // when the first of the judged frames was drawn, ms
  let frames = 0; // of the movement, until they are judged

  const show = (opacity) => lines().forEach((layer) => map.setPaintProperty(layer, "line-opacity", opacity));

  map.on("movestart", () => {
    frames = 0;
    if (isSlow) {
      show(0);
    }
  });
  map.on("render", () => {
    if (isSlow || !map.isMoving()) {
      return;
    }
    const now = document.timeline.currentTime; // of the frame
    if (frames % JUDGED === 0) {
      isSlow = frames > 0 && now - begun > SLOW_MS;
      begun = now;
    }
    frames += 1;
    if (isSlow) {
      show(0);
    }
  });
  map.on("moveend", () => isSlow && show(1));
}
