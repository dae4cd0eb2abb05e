// Mercurius with its compiler on better-sqlite3: the fastest ordinary GraphQL server of Node.
// EVENTS_DB names the file, the argument the port. Times are epoch milliseconds; an end is exclusive.
import Database from 'better-sqlite3';
import Fastify from 'fastify';
import mercurius from 'mercurius';

const MAX_PAGE = 1000;

const db = new Database(process.env.EVENTS_DB);
for (const setting of ['journal_mode = WAL', 'synchronous = NORMAL', 'cache_size = -64000', 'busy_timeout = 5000']) {
  db.pragma(setting);
}

const statements = new Map();
function prepared(sql) {
  let statement = statements.get(sql);
  if (!statement) statements.set(sql, (statement = db.prepare(sql)));
  return statement;
}

const COLUMNS = `event_id AS eventId, event_ts_ms AS eventTsMs, mag, place, lat, lon, depth, source,
  ingested_at AS ingestedAt, day_bucket AS dayBucket`;

function where({ startMs, endMs, minMag, after }) {
  const terms = [];
  const parameters = [];
  const add = (term, ...values) => {
    terms.push(term);
    parameters.push(...values);
  };
  if (startMs != null) add('event_ts_ms >= ?', startMs);
  if (endMs != null) add('event_ts_ms < ?', endMs);
  if (minMag != null) add('mag >= ?', minMag);
  if (after != null) {
    const [, time, id] = /^(-?\d+):(.+)$/s.exec(Buffer.from(after, 'base64').toString());
    add('event_ts_ms <= ? AND NOT (event_ts_ms = ? AND event_id <= ?)', Number(time), Number(time), id);
  }
  return [terms.length ? `WHERE ${terms.join(' AND ')}` : '', parameters];
}

const cursorOf = (row) => Buffer.from(`${row.eventTsMs}:${row.eventId}`).toString('base64');

class EventConnection {
  #asked;
  #page;

  constructor(asked) {
    this.#asked = asked;
  }

  get page() {
    if (!this.#page) {
      const first = Math.max(0, Math.min(this.#asked.first, MAX_PAGE));
      const [clause, parameters] = where(this.#asked);
      const sql = `SELECT ${COLUMNS} FROM events ${clause} ORDER BY event_ts_ms DESC, event_id LIMIT ?`;
      const rows = prepared(sql).all(...parameters, first + 1);
      const edges = rows.slice(0, first).map((node) => ({ cursor: cursorOf(node), node }));
      const pageInfo = { hasNextPage: rows.length > first, endCursor: edges.at(-1)?.cursor ?? null };
      this.#page = { edges, pageInfo };
    }
    return this.#page;
  }

  get totalCount() {
    const [clause, parameters] = where({ ...this.#asked, after: null });
    return prepared(`SELECT count(*) AS number FROM events ${clause}`).get(...parameters).number;
  }
}

const UPSERT = `INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (event_id) DO UPDATE SET
  event_ts_ms = excluded.event_ts_ms, mag = excluded.mag, place = excluded.place, lat = excluded.lat,
  lon = excluded.lon, depth = excluded.depth, source = excluded.source, ingested_at = excluded.ingested_at,
  day_bucket = excluded.day_bucket`;

const ingest = db.transaction((events) => {
  const upsert = prepared(UPSERT);
  const now = Date.now();
  for (const { eventId, eventTsMs, mag, place, lat, lon, depth, source } of events) {
    const dayBucket = new Date(eventTsMs).toISOString().slice(0, 10).replaceAll('-', '');
    upsert.run(eventId, eventTsMs, mag, place, lat, lon, depth, source, now, dayBucket);
  }
  return { accepted: events.length };
});

const EVENT_FIELDS = `eventId: ID! eventTsMs: Float! mag: Float place: String lat: Float lon: Float depth: Float
  source: String!`;
const schema = `
  type Event { ${EVENT_FIELDS} ingestedAt: Float! dayBucket: String! }
  type EventEdge { cursor: String! node: Event! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type EventConnection { edges: [EventEdge!]! pageInfo: PageInfo! totalCount: Int! }
  input EventInput { ${EVENT_FIELDS} }
  type IngestResult { accepted: Int! }
  type Query {
    event(eventId: ID!): Event
    events(first: Int! = 50, after: String, startMs: Float, endMs: Float, minMag: Float): EventConnection!
  }
  type Mutation { ingestEvents(events: [EventInput!]!): IngestResult! }
`;
const resolvers = {
  Query: {
    event: (_, { eventId }) => prepared(`SELECT ${COLUMNS} FROM events WHERE event_id = ?`).get(eventId),
    events: (_, asked) => new EventConnection(asked),
  },
  EventConnection: {
    edges: (connection) => connection.page.edges,
    pageInfo: (connection) => connection.page.pageInfo,
    totalCount: (connection) => connection.totalCount,
  },
  Mutation: { ingestEvents: (_, { events }) => ingest(events) },
};

const app = Fastify({ logger: false, bodyLimit: 16 * 1024 * 1024 });
app.register(mercurius, { schema, resolvers, jit: 1, path: '/graphql' });
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' });
