// Follows a subscription for as long as the page likes: over connections that break, fall silent or are refused, each
// new one resumes behind the last cursor. Every change of its state is told, for the page to show.

import { messages } from "./event_stream.js";
import { parsed, post, Refused, refusal } from "./graph.js";

const SILENCE_MS = 40_000; // three heart-beats of the service and a little
const STEADY_MS = 30_000; // a connection that lasts so long has not failed, even where nothing was told
const FIRST_PAUSE_S = 1;
const LONGEST_PAUSE_S = 60;

// Refusals that pass by themselves; the others would be repeated.
const PASSING = new Set([
  "RATE_LIMITED",
  "TOO_MANY_SUBSCRIPTIONS",
  "OVERLOADED",
  "TIMEOUT",
  "DATABASE_UNAVAILABLE",
  "KEY_SET_UNAVAILABLE",
  "INTERNAL_SERVER_ERROR",
]);

/**
 * What the one field of the subscription brings.
 *
 * @typedef {object} Notice
 * @property {string} cursor  where to resume
 *
 * @typedef {{name: "connecting"} | {name: "live", isResumed: boolean}
 *   | {name: "waiting", seconds: number, reason: string} | {name: "off", reason: string}} State
 */

// A browser may keep a page that was left, with its connections, and show it again. It opens six to a service, so a few
// kept pages would leave none to the next one. A page that is left ends its connections, and begins anew when it is shown.
let left = new AbortController(); // of the present visit
let shown = Promise.resolve();
addEventListener("pagehide", () => {
  const next = new AbortController();
  shown = new Promise((go) => addEventListener("pageshow", go, { once: true }));
  left.abort();
  left = next;
});

/**
 * Follows what is stored from now on, until it is aborted, or refused for good.
 *
 * @param {object} what
 * @param {string} what.document  a subscription of one field, with the variable `after`
 * @param {object} what.variables  its others
 * @param {(notice: Notice) => void} what.onNotice
 * @param {(state: State) => void} what.onState
 * @param {AbortSignal} what.signal
 */
export async function follow({ document, variables, onNotice, onState, signal }) {
  let cursor = null; // of the last notice
  let failures = 0; // one after the other
  for (await shown; !signal.aborted; await shown) {
    const visit = left.signal;
    onState({ name: "connecting" });
    let openedAt = Infinity;
    const opened = () => {
      openedAt = performance.now();
      onState({ name: "live", isResumed: cursor !== null });
    };
    let failure;
    try {
      for await (const notice of notices(document, { ...variables, after: cursor }, [signal, visit], opened)) {
        cursor = notice.cursor;
        failures = 0;
        onNotice(notice);
      }
      failure = new Error("the service ended the connection");
    } catch (error) {
      failure = error;
    }
    if (signal.aborted || visit.aborted) {
      continue;
    }
    if (failure instanceof Refused && !passes(failure)) {
      onState({ name: "off", reason: failure.message });
      return;
    }
    if (performance.now() - openedAt >= STEADY_MS) {
      failures = 0;
    }
    const seconds = Math.max(pause(failures++), failure.retryAfterSeconds ?? 0);
    onState({ name: "waiting", seconds, reason: failure.message });
    await waited(seconds, signal);
  }
}

/** What one connection brings. */
async function* notices(document, variables, signals, onOpen) {
  const silence = new AbortController();
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(new Error("the connection fell silent")), SILENCE_MS);
  };
  heard();
  try {
    const response = await post(document, variables, "text/event-stream", AbortSignal.any([...signals, silence.signal]));
    if (!response.ok || !response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
      throw refusal(response, await response.json().catch(() => null));
    }
    onOpen();
    for await (const { event, data } of messages(chunks(response.body, heard))) {
      if (event === "complete") {
        return;
      }
      const answer = parsed(data);
      const [notice] = Object.values(answer.data ?? {});
      if (!notice) {
        throw refusal(response, answer);
      }
      yield notice;
    }
  } finally {
    clearTimeout(timer);
    silence.abort(); // which also ends a connection that is left before its end
  }
}

async function* chunks(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    heard();
    yield read.value;
  }
}

function passes({ code, status }) {
  return code ? PASSING.has(code) : status >= 500 || status === 408 || status === 429;
}

/** Seconds before the next attempt: doubled with each failure, and spread, so that clients do not return all at once. */
function pause(failures) {
  return Math.min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** Waits so long, or until the browser is on the network again. */
function waited(seconds, signal) {
  return new Promise((done) => {
    const ended = new AbortController();
    const end = () => {
      clearTimeout(timer);
      ended.abort();
      done();
    };
    const timer = setTimeout(end, 1000 * seconds);
    addEventListener("online", end, { signal: ended.signal });
    signal.addEventListener("abort", end, { signal: ended.signal });
  });
}
