// Asks the graph: a GET for a query, a POST for everything else. What it refuses is thrown, in its own words. The browser
// keeps the answers to GETs, and asks whether they have changed: see "Answers that have not changed" in `docs/queries.md`.

/** Where the service is: the page knows the way to its root, whatever path a proxy has put both under. */
const ROOT = new URL(document.documentElement.dataset.root ?? "", document.baseURI);

/** The address of a path of the service. */
export const address = (path) => new URL(path, ROOT).href;

const GRAPH_URL = address("graphql");
const LONGEST_URL = 6000; // characters; some proxies refuse 8,000
const OF_GRAPH = "application/graphql-response+json";

/** What the graph, or something before it, answered in place of data. */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {string | undefined} code  one of the graph's stable codes; none where the answer is not the graph's
   * @param {Response} response
   */
  constructor(message, code, response) {
    super(message);
    this.name = "Refused";
    this.code = code;
    this.status = response.status;
    this.retryAfterSeconds = Number(response.headers.get("Retry-After")) || 0;
  }
}

const NAMES = {
  minMagnitude: "Min magnitude",
  maxMagnitude: "Max magnitude",
  minDepth: "Min depth",
  maxDepth: "Max depth",
  startTime: "From",
  endTime: "To",
  box: "Area",
  types: "Type",
  place: "Place",
};

/** A sentence of the graph in the words of the page, which calls its arguments by the labels of the filters. */
export const inWords = (sentence) => sentence.replace(/`(\w+)`/g, (whole, name) => (NAMES[name] ? `“${NAMES[name]}”` : whole));

/** What to say of an error. */
export function wording(error) {
  if (error.code === "INVALID_CURSOR") {
    return "The address leads to a page of the list that does not exist. Go to the first page.";
  }
  return error instanceof Refused ? inWords(error.message) : `The service cannot be reached: ${error.message}.`;
}

/**
 * The data of the answer to a document.
 *
 * @param {string} query
 * @param {object} variables
 * @param {AbortSignal} [signal]
 * @throws {Refused} where the answer has errors
 */
export async function ask(query, variables, signal) {
  const asking = `${GRAPH_URL}?${new URLSearchParams({ query, variables: JSON.stringify(variables) })}`;
  const response = await (query.startsWith("query") && asking.length <= LONGEST_URL
    ? fetch(asking, { headers: { Accept: OF_GRAPH, ...authorized() }, signal })
    : post(query, variables, OF_GRAPH, signal));
  const answer = await response.text().then(parsed).catch(() => null);
  if (!answer?.data || answer.errors) {
    throw refusal(response, answer);
  }
  return answer.data;
}

/** What an answer says, without characters such as U+202E that would turn what the page writes behind somebody's text. */
export const parsed = (json) => JSON.parse(json.replace(/[\u202a-\u202e\u2066-\u2069]/g, ""));

/** Sends a document, and the token with it where there is one. */
export function post(query, variables, accept, signal) {
  return fetch(GRAPH_URL, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: accept, ...authorized() },
    body: JSON.stringify({ query, variables }),
    signal,
  });
}

/** What an answer without data says. */
export function refusal(response, answer) {
  const [error] = answer?.errors ?? [];
  const unsaid = response.ok ? "The answer was cut off, or cannot be read." : `The service answered ${response.status}.`;
  return new Refused(error?.message ?? unsaid, error?.extensions?.code, response);
}

/**
 * Takes the token that an address may bring in its fragment, which the browser sends to nobody. It goes out of the address
 * bar, so that it is not copied along with the address, and lasts as long as the tab. GraphiQL finds it under the same
 * name.
 *
 * @returns {boolean} whether there was one
 */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return Boolean(given);
}

/** Whether there is a token to send. */
export const hasToken = () => sessionStorage.getItem("token") !== null;

/** The headers of a request that sends the token, where there is one. */
export function authorized() {
  const token = sessionStorage.getItem("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
}
