// What a pointer does over a plot: it hovers, it chooses a place, or it drags a range. A finger does the same as a mouse,
// and still scrolls the page when it moves up or down.

const LEAST_DRAG_PX = 6; // a hand is not quite still when it chooses a place

/** How far from a place a pointer of this kind may be, px. */
export const reach = (event) => (event.pointerType === "touch" ? 22 : 8);

/**
 * @param {object} drawn  an instance of uPlot
 * @param {object} heard  each with px from the left and the top of the plot, and the pointer's event
 * @param {(at: {x: number, y: number}, event: PointerEvent) => void} heard.onHover
 * @param {() => void} heard.onLeave
 * @param {(at: {x: number, y: number}, event: PointerEvent) => void} [heard.onChoose]
 * @param {(from: number, to: number) => void} [heard.onDrag]  px from the left
 */
export function point(drawn, { onHover, onLeave, onChoose = () => {}, onDrag = null }) {
  const { over } = drawn;
  let start = null; // px from the left, while a button or a finger is down
  let isDragging = false;

  const place = (event) => {
    const { left, top } = over.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const within = (x) => Math.min(over.clientWidth, Math.max(0, x));

  function mark(from, to) {
    const size = { left: Math.min(from, to), width: Math.abs(to - from), top: 0, height: over.clientHeight };
    drawn.setSelect(size, false);
  }

  function end() {
    start = null;
    isDragging = false;
    mark(0, 0);
  }

  over.addEventListener("pointerdown", (event) => {
    if (event.isPrimary && event.button === 0) {
      start = within(place(event).x);
    }
  });
  over.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (start !== null && onDrag && (isDragging || Math.abs(at.x - start) >= LEAST_DRAG_PX)) {
      if (!isDragging) {
        isDragging = true;
        over.setPointerCapture(event.pointerId);
        onLeave();
      }
      mark(start, within(at.x));
    } else {
      onHover(at, event);
    }
  });
  over.addEventListener("pointerup", (event) => {
    const at = place(event);
    if (isDragging) {
      onDrag(...[start, within(at.x)].sort((one, other) => one - other));
    } else if (start !== null) {
      onChoose(at, event);
    }
    end();
  });
  over.addEventListener("pointercancel", end);
  over.addEventListener("pointerleave", onLeave);
}
