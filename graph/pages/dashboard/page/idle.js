// Work that can wait for an idle moment, so that the browser paints and hears its user first.

const LONGEST_WAIT_MS = 2000;

/** Calls back in an idle moment; a browser without such moments takes the next one. */
export function whenIdle(callback) {
  const wait = globalThis.requestIdleCallback ?? setTimeout;
  wait(() => callback(), { timeout: LONGEST_WAIT_MS });
}

/**
 * Does in an idle moment what was last asked for.
 *
 * @template T
 * @param {(newest: T) => void} work
 * @returns {(given: T) => void}
 */
export function newestWhenIdle(work) {
  let newest;
  let isWaiting = false;
  return (given) => {
    newest = given;
    if (!isWaiting) {
      isWaiting = true;
      whenIdle(() => {
        isWaiting = false;
        work(newest);
      });
    }
  };
}
