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

const EVENT = `fragment Shown on Event { eventId eventTsMs mag place lat lon depth type url }`;

/** The time of the newest event, from which "recent" is counted. */
export const NEWEST = `query Newest { events(first: 1) { nodes { eventTsMs } } }`;

/** A page of what the map and the plot in time show. */
export const EVENTS = `query Events($filter: EventFilter, $first: Int!, $after: String) {
  events(filter: $filter, first: $first, after: $after) {
    nodes { ...Shown }
    pageInfo { hasNextPage endCursor }
  }
}
${EVENT}`;

/** A page of the list, in either direction. */
export const LIST = `query List($filter: EventFilter, $first: Int, $after: String, $last: Int, $before: String) {
  events(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
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

/** How often which magnitudes are. */
export const STATISTICS = `query Statistics($filter: EventFilter) {
  catalogueStatistics(filter: $filter) {
    count
    magnitudeFrequency { magnitude count cumulative }
    gutenbergRichter { completeness b uncertainty a events reliability reason }
  }
}`;

/** The versions of events that are stored from now on, and since a cursor. */
export const LIVE = `subscription Live($filter: EventFilter, $after: String) {
  events(filter: $filter, after: $after) {
    cursor
    lost
    kind
    event { ...Shown }
  }
}
${EVENT}`;
