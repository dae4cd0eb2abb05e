// Keeps a moving map fluent: where frames take long, as without a graphics processor, it is drawn with fewer pixels until
// it rests.

const SLOW_MS = 45; // a frame
const FRAMES = 4; // that are slow on average
const COARSE = 0.5; // pixels a pixel, in each direction

/** @param {object} map  of MapLibre */
export function keepPace(map) {
  const whole = map.getPixelRatio();
  let frames = 0;
  let begun = 0;

  map.on("movestart", () => (frames = 0));
  map.on("render", () => {
    if (!map.isMoving() || map.getPixelRatio() !== whole) {
      return;
    }
    const now = performance.now();
    if (frames === 0) {
      begun = now;
    } else if (frames === FRAMES) {
      frames = 0;
      if (now - begun > FRAMES * SLOW_MS) {
        map.setPixelRatio(COARSE * whole);
      }
      return;
    }
    frames += 1;
  });
  map.on("moveend", () => {
    if (map.getPixelRatio() !== whole) {
      map.setPixelRatio(whole);
    }
  });
}
