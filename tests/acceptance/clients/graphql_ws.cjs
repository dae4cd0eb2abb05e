// Has the client of the npm package graphql-ws do what it reads, a word a line, and prints what it hears as JSON.
//
//     NODE_PATH=folder-of-packages node graphql_ws.cjs ws://127.0.0.1:8000/graphql "Bearer …"
//
// `subscribe` subscribes for good: when the subscription is completed, again behind the last event. `dispose` ends it.

const { createInterface } = require("node:readline");
const { createClient } = require("graphql-ws/client");
const WebSocket = require("ws");

const [url, token] = process.argv.slice(2);
const say = (word) => process.stdout.write(JSON.stringify(word) + "\n");

const client = createClient({
  url,
  webSocketImpl: WebSocket,
  connectionParams: { Authorization: token },
  retryAttempts: Infinity,
  retryWait: () => new Promise((done) => setTimeout(done, 50)),
  shouldRetry: () => true,
  on: { connected: () => say("connected") },
});

const EVENTS = "subscription ($after: String) { events(after: $after) { node { eventId } cursor } }";
const variables = {};
let dispose = () => {};
let disposed = false;

function subscribe() {
  dispose = client.subscribe(
    { query: EVENTS, variables },
    {
      next: ({ data }) => {
        variables.after = data.events.cursor;
        say(data.events.node.eventId);
      },
      // GraphQL's errors, or the closing of the connection
      error: (errors) => say({ errors, code: errors.code, reason: errors.reason }),
      complete: () => {
        say("completed");
        if (!disposed) subscribe();
      },
    },
  );
}

async function run(query) {
  for await (const result of client.iterate({ query })) say(result);
}

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "subscribe") subscribe();
  else if (line === "dispose") {
    disposed = true;
    dispose();
  } else run(line).catch((errors) => say({ errors }));
}).on("close", () => process.exit());
