// Loads a server with one request over and over: reads what is wanted as JSON from standard input, and writes there
// what came of it. autocannon's own latencies are whole milliseconds, so they are taken from its events instead.
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

const HEADERS_BYTES = 1024; // at most, before a body

const { url, headers, body, answerBytes, connections, seconds, requests } = JSON.parse(readFileSync(0, 'utf8'));
const milliseconds = [];
let wrong = 0;
let ended = 0;

const extent = requests ? { amount: requests } : { duration: seconds };
const options = { url, method: 'POST', headers, body, connections, timeout: 120, sampleInt: 100, ...extent };
const began = performance.now();
const loading = autocannon(options, (error, { errors, timeouts }) => {
  if (error) throw error;
  milliseconds.sort((one, other) => one - other);
  const quantile = (part) => milliseconds[Math.floor((milliseconds.length - 1) * part)];
  const answered = { requests: milliseconds.length, seconds: (ended - began) / 1000, wrong: wrong + errors + timeouts };
  console.log(JSON.stringify({ ...answered, p50: quantile(0.5), p99: quantile(0.99) }));
});
loading.on('response', (_client, status, bytes, took) => {
  ended = performance.now();
  milliseconds.push(took);
  if (status !== 200 || bytes < answerBytes || bytes > answerBytes + HEADERS_BYTES) wrong += 1;
});
