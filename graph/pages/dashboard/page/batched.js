/**
 * Delivers together what comes within a while of the first.
 *
 * @template T
 * @param {number} ms
 * @param {AbortSignal} signal  after which nothing is delivered
 * @param {(items: T[]) => void} deliver
 * @returns {(item?: T) => void}
 */
export function batched(ms, signal, deliver) {
  let items = null;
  return (item) => {
    if (!items) {
      items = [];
      setTimeout(() => {
        const delivered = items;
        items = null;
        if (!signal.aborted) {
          deliver(delivered);
        }
      }, ms);
    }
    items.push(item);
  };
}
