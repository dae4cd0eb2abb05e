// Loads a server with requests in turn: reads what is wanted as JSON from standard input, and writes there what came of
// it. autocannon's own latencies are whole milliseconds, so they are taken from its events instead.
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

const { url, headers, bodies, connections, seconds, requests } = JSON.parse(readFileSync(0, 'utf8'));
const milliseconds = [];
let wrong = 0;
let ended = 0;
let sent = 0;

const extent = requests ? { amount: requests } : { duration: seconds };
// Bodies in turn for all connections together: by itself, autocannon begins with the first one on each connection.
const inTurn = {
  setupRequest: (request) => ({ ...request, body: bodies[sent++ % bodies.length] }),
  onResponse: (_status, body) => {
    if (body.includes('"errors":')) wrong += 1;
  },
};
const given = { url, method: 'POST', headers, requests: [inTurn], connections };
const options = { ...given, timeout: 120, sampleInt: 100, ...extent };
const began = performance.now();
const loading = autocannon(options, (error, { errors, timeouts }) => {
  if (error) throw error;
  milliseconds.sort((one, other) => one - other);
  const quantile = (part) => milliseconds[Math.floor((milliseconds.length - 1) * part)];
  const answered = { requests: milliseconds.length, seconds: (ended - began) / 1000, wrong: wrong + errors + timeouts };
  console.log(JSON.stringify({ ...answered, p50: quantile(0.5), p99: quantile(0.99) }));
});
loading.on('response', (_client, status, _bytes, took) => {
  ended = performance.now();
  milliseconds.push(took);
  if (status !== 200) wrong += 1;
});
