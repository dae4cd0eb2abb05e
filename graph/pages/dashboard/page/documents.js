// What the page asks: all of its GraphQL, each document once.

/**
 * @typedef {object} QuakeEvent
 * @property {string} eventId
 * @property {number} eventTsMs  origin time, epoch milliseconds
 * @property {number} mag
 * @property {string} place
 * @property {number} lat  degrees north
 * @property {number} lon  degrees east
 * @property {?number} depth  km; null where it was not measured
 * @property {?string} type
 * @property {?string} url  the event's page at USGS
 */

/**
 * @typedef {object} Sighting
 * @property {string} id  global id
 * @property {string} sightingId
 * @property {string} category
 * @property {string} area  slug
 * @property {?string} text  plain text
 * @property {string} reportedAt
 * @property {string} expiresAt
 * @property {number} confirmations
 * @property {"BRONZE" | "SILVER" | "GOLD"} reporterTier
 * @property {{lifetimeSeconds: number}} confidence  the lifetime of a new sighting
 * @property {boolean} own  whether the caller has reported it
 * @property {?{lat: number, lon: number}} position  rounded; null where the reporter gave none
 */

const EVENT = `fragment Shown on Event { eventId eventTsMs mag place lat lon depth type url }`;

/** The time of the newest event, from which "recent" is counted. */
export const NEWEST = `query Newest { events(first: 1) { nodes { eventTsMs } } }`;

/** A page of what the map and the plots draw one by one. */
export const EVENTS = `query Events($filter: EventFilter, $orderBy: EventOrder!, $first: Int!, $after: String) {
  events(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
    nodes { ...Shown }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
}
${EVENT}`;

/** A page of the list, in either direction. */
export const LIST = `query List(
  $filter: EventFilter, $orderBy: EventOrder!, $first: Int, $after: String, $last: Int, $before: String
) {
  events(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { ...Shown } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    totalCount
  }
}
${EVENT}`;

/** How many events there are. */
export const TOTAL = `query Total($filter: EventFilter) {
  events(filter: $filter, first: 1) {
    totalCount
  }
}`;

/** What a view of the map holds: the number of its events, and of earthquakes in each cell of a grid. */
export const VIEW = `query View($filter: EventFilter, $degrees: Float!) {
  events(filter: $filter, first: 1) { totalCount }
  catalogueStatistics(filter: $filter) {
    grid(degreesPerCell: $degrees) { cells { lat lon count greatest: greatestMagnitude } reason }
  }
}`;

/** What the plots show of all events: how many there are over time, by magnitude and by depth; and the largest. */
export const STATISTICS = `query Statistics($filter: EventFilter, $interval: SeriesInterval!, $binKm: Float!) {
  catalogueStatistics(filter: $filter) {
    count
    largest { ...Shown }
    series(interval: $interval) { interval startsAt counts }
    magnitudeFrequency { magnitude count cumulative }
    gutenbergRichter {
      completeness b uncertainty a events reliability reason
      bootstrap(confidence: 0.95) { low high }
    }
    depths(binKm: $binKm) { bins { depth count } unknown reason }
  }
}
${EVENT}`;

/** The versions of events that are stored from now on, and since a cursor. */
export const LIVE = `subscription Live($filter: EventFilter, $after: String) {
  events(filter: $filter, after: $after) {
    cursor
    dropped
    kind
    matches
    node { ...Shown }
  }
}
${EVENT}`;

const SIGHTING = `fragment Sighted on Sighting {
  id sightingId category area text reportedAt expiresAt confirmations reporterTier own position { lat lon }
  confidence { lifetimeSeconds }
}`;

/** The newest sightings, and what can be reported. */
export const SIGHTINGS = `query Sightings($first: Int!) {
  sightings(first: $first) { nodes { ...Sighted } }
  sightingCategories
}
${SIGHTING}`;

/** Answered only to those who may report and confirm. */
export const REPORTER = `query Reporter { profile { tier } }`;

/** Reports a sighting. */
export const REPORT = `mutation Report($input: ReportSightingInput!) {
  reportSighting(input: $input) { sighting { ...Sighted } created confirmed }
}
${SIGHTING}`;

/** Confirms a sighting. */
export const CONFIRM = `mutation Confirm($id: ID!) {
  confirmSighting(input: { sightingId: $id }) { sighting { ...Sighted } confirmed }
}
${SIGHTING}`;

/** How strongly people felt an earthquake, by their reports here and at USGS. */
export const FELT = `query Felt($eventId: ID!) {
  event(eventId: $eventId) { feltIntensity { reports cdi usgsCdi cells { reports } } }
}`;

/** What happens to sightings from now on, and since a cursor. */
export const LIVE_SIGHTINGS = `subscription LiveSightings($after: String) {
  sightings(after: $after) {
    cursor
    dropped
    kind
    nodeId
    node { ...Sighted }
  }
}
${SIGHTING}`;

/** An event in full, with its versions. Those of most events are few. */
export const EVENT_IN_FULL = `query EventInFull($eventId: ID!) {
  event(eventId: $eventId) {
    ...Shown
    magType status updatedAt tsunami felt alert cdi mmi nst dmin rms gap sources
    revision preferredId aliases { eventId preferred } deletion { recordedAt } mergedInto { eventId }
    revisions(last: 50) {
      nodes {
        number kind publishedAt recordedAt
        changes { field before after }
        event { mag magType }
      }
    }
  }
}
${EVENT}`;

/** What an event did, beside what lists show of it. */
export const EFFECTS = `query Effects($eventId: ID!) {
  event(eventId: $eventId) { magType felt cdi mmi alert tsunami }
}`;

/** The largest events of an area and a time. */
export const LARGEST_NEARBY = `query LargestNearby($filter: EventFilter!, $first: Int!) {
  events(filter: $filter, orderBy: MAGNITUDE_DESC, first: $first) {
    nodes { ...Shown }
    totalCount
  }
}
${EVENT}`;

/** That an event has another version, from now on and since a cursor. */
export const LIVE_EVENT = `subscription LiveEvent($filter: EventFilter!, $after: String) {
  events(filter: $filter, after: $after) { cursor dropped kind node { eventId revision } }
}`;

/** The active sightings that name an earthquake. */
export const SIGHTINGS_OF = `query SightingsOf($eventId: ID!) {
  event(eventId: $eventId) { sightings(first: 20) { nodes { ...Sighted } } }
}
${SIGHTING}`;

/** Where the caller's webhooks can be sent. */
export const ENDPOINTS = `query Endpoints { triggerEndpoints(first: 100) { nodes { endpointId url description state } } }`;

/** Watches the catalogue for the caller. */
export const CREATE_WATCH = `mutation CreateWatch($input: CreateWatchInput!) {
  createWatch(input: $input) { watch { watchId name } }
}`;
