// How numbers and times are written. Times are UTC, as the catalogue's are.

const COUNT = new Intl.NumberFormat("en");

export const count = (number) => COUNT.format(number);

export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export const decimal = (number, digits) => number.toFixed(digits).replace(/^-/, "−");

export const magnitude = (mag) => decimal(mag, 1);

/** 2023-08-04 00:31:44 */
export const time = (ms) => new Date(ms).toISOString().replace("T", " ").slice(0, 19);

/** 2023-08-04 00:31 UTC */
export const minute = (ms) => `${time(ms).slice(0, 16)} UTC`;

export const kilometres = (depth) => (depth === null ? "not measured" : `${decimal(depth, 1)} km`);

/** 38.51° N 122.73° W */
export const coordinates = ({ lat, lon }) =>
  `${Math.abs(lat).toFixed(2)}° ${lat < 0 ? "S" : "N"} ${Math.abs(lon).toFixed(2)}° ${lon < 0 ? "W" : "E"}`;
