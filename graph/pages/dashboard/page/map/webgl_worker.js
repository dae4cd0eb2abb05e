// Makes the first drawing context of WebGL, beside the page. Where no graphics card does it, that takes a second, for which
// the page would stand still; each later one takes some milliseconds.

new OffscreenCanvas(1, 1).getContext("webgl2");
postMessage(null);
