// Bars from edge to edge, which may be of unequal length, as months are.

/**
 * Draws a bar between each two edges, as far as they are on their axis: upwards, or to the right where that axis is upright.
 *
 * @param {object} drawn  an instance of uPlot; the edges are on its scale `x`
 * @param {string} scale  of the lengths
 * @param {number[]} edges  one more than there are lengths
 * @param {number[]} lengths
 * @param {(index: number) => string} fill  the colour of a bar
 * @param {string} edge  that of its end, which stands out also where the bar is pale
 */
export function bars(drawn, scale, edges, lengths, fill, edge) {
  const { ctx, bbox, scales } = drawn;
  const isUpright = scales.x.ori === 1;
  const [first, size] = isUpright ? [bbox.top, bbox.height] : [bbox.left, bbox.width];
  const places = edges.map((edge) => Math.min(first + size, Math.max(first, drawn.valToPos(edge, "x", true))));
  ctx.save();
  lengths.forEach((length, index) => {
    const begin = places[index];
    const thickness = places[index + 1] - begin;
    const gap = thickness > 4 * devicePixelRatio ? devicePixelRatio : 0;
    const end = drawn.valToPos(length, scale, true);
    if (!length || thickness <= 0) {
      return;
    }
    ctx.fillStyle = fill(index);
    if (isUpright) {
      ctx.fillRect(bbox.left, begin, end - bbox.left, thickness - gap);
    } else {
      ctx.fillRect(begin, end, thickness - gap, bbox.top + bbox.height - end);
    }
    ctx.fillStyle = edge;
    if (isUpright) {
      ctx.fillRect(end - devicePixelRatio, begin, devicePixelRatio, thickness - gap);
    } else {
      ctx.fillRect(begin, end, thickness - gap, devicePixelRatio);
    }
  });
  ctx.restore();
}
