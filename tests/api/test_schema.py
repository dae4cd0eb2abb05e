"""The graph's schema: what the contract says, all of it described, and printed where clients look for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    get_named_type,
    introspection_from_schema,
    is_introspection_type,
    is_specified_scalar_type,
    lexicographic_sort_schema,
)

from graph.api.times import time_name
from graph.app import schema_of
from graph.domains import DOMAINS
from tests.schemas import printed

CHECKED_IN = Path(__file__).parents[2] / "schema.graphql"

CONTRACT = """
type Subscription {
  events(filter: EventFilter, after: String, kinds: [RevisionKind!]): EventNotice!
}
type EventNotice {
  event: Event
  kind: RevisionKind
  revision: EventRevision
  cursor: String!
  lost: Int!
}
input AsOf @oneOf { recorded: DateTime  published: DateTime  first: Boolean }
enum DeletedEvents { EXCLUDE INCLUDE ONLY }
enum RevisionKind { CREATED REVISED RENAMED MERGED DELETED RESTORED }
type EventAlias { eventId: String!  preferred: Boolean! }
type Deletion {
  recordedAt: EpochMillis!  recordedTime: DateTime!  publishedAt: EpochMillis  publishedTime: DateTime
}
type RevisionChange { field: String!  before: JSON  after: JSON }
type EventRevision {
  number: Int!  kind: RevisionKind!  publishedAt: EpochMillis  publishedTime: DateTime
  recordedAt: EpochMillis!  recordedTime: DateTime!  minutesAfterOrigin: Float
  changes: [RevisionChange!]!  event: Event!
}
type EventRevisionConnection { edges: [EventRevisionEdge!]!  nodes: [EventRevision!]!  pageInfo: PageInfo! }
type EventRevisionEdge { cursor: String!  node: EventRevision! }
type Query {
  node(id: ID!): Node
  nodes(ids: [ID!]!): [Node]!
  event(eventId: String!, asOf: AsOf): Event
  events(
    filter: EventFilter, orderBy: EventOrder! = TIME_DESC, asOf: AsOf, deleted: DeletedEvents! = EXCLUDE
    updatedSince: DateTime, first: Int, after: String, last: Int, before: String
  ): EventConnection!
  requestLogs(filter: RequestLogFilter, first: Int, after: String, last: Int, before: String): RequestLogConnection!
  ingestStatus: IngestStatus!
  popularFilters(day: Date, windowDays: Int! = 1, limit: Int! = 10): PopularFilters!
  catalogueStatistics(filter: EventFilter): CatalogueStatistics!
}
type Mutation {
  ingestRecent(input: IngestRecentInput): IngestPayload!
  ingestEvents(input: IngestEventsInput!): IngestPayload!
}
interface Node { id: ID! }
type Event implements Node {
  id: ID!  eventId: String!  eventTsMs: EpochMillis!  time: DateTime!  mag: Float!  place: String!
  lat: Float!  lon: Float!  depth: Float  dayBucket: String!  source: String!  ingestedAt: EpochMillis!
  magType: String  type: String  status: String  updated: EpochMillis  url: String  tsunami: Boolean  felt: Int
  alert: String  sig: Int  alertLevel: AlertLevel  reviewStatus: ReviewStatus
  ingestedTime: DateTime!  updatedTime: DateTime  publishedTime: DateTime  recordedTime: DateTime!
  revision: Int!  publishedAt: EpochMillis  recordedAt: EpochMillis!  preferredId: String!  aliases: [EventAlias!]!
  mergedInto: Event  deletion: Deletion
  revisions(first: Int, after: String, last: Int, before: String): EventRevisionConnection!
  sourceDepth: Float  net: String  code: String  ids: [String!]  sources: [String!]  types: [String!]
  nst: Int  dmin: Float  rms: Float  gap: Float  cdi: Float  mmi: Float  title: String  detail: String
  nearby(
    radiusKm: Float! = 100, days: Float! = 30, first: Int, after: String, last: Int, before: String
  ): EventConnection!
}
enum AlertLevel { GREEN YELLOW ORANGE RED }
enum ReviewStatus { AUTOMATIC REVIEWED DELETED }
input EventFilter {
  startTime: DateTime  endTime: DateTime
  minMagnitude: Float  maxMagnitude: Float  minDepth: Float  maxDepth: Float
  box: BoxInput  circle: CircleInput  polygon: [PointInput!]  types: [String!]  networks: [String!]
  magTypes: [String!]  status: [String!]  alerts: [String!]  tsunami: Boolean  minFelt: Int  minSig: Int
  maxGap: Float  place: String  ids: [String!]
}
input PointInput { lat: Float!  lon: Float! }
input BoxInput { minLat: Float!  maxLat: Float!  minLon: Float!  maxLon: Float! }
input CircleInput { lat: Float!  lon: Float!  radiusKm: Float! }
enum EventOrder { TIME_DESC TIME_ASC MAGNITUDE_DESC MAGNITUDE_ASC }
enum ExportFormat { NDJSON CSV GEOJSON PARQUET ARROW }
type EventConnection {
  edges: [EventEdge!]!  nodes: [Event!]!  pageInfo: PageInfo!  totalCount: Int  bucketsScanned: Int!  asGeoJson: JSON!
  exportUrl(format: ExportFormat!): String
}
type EventEdge { cursor: String!  node: Event! }
type PageInfo { hasNextPage: Boolean!  hasPreviousPage: Boolean!  startCursor: String  endCursor: String }
input IngestRecentInput {
  limit: Int  feed: UsgsFeed  startTime: DateTime  endTime: DateTime  minMagnitude: Float
  updatedSince: DateTime
}
enum UsgsFeed {
  ALL_HOUR ALL_DAY ALL_WEEK ALL_MONTH
  M1_0_HOUR M1_0_DAY M1_0_WEEK M1_0_MONTH
  M2_5_HOUR M2_5_DAY M2_5_WEEK M2_5_MONTH
  M4_5_HOUR M4_5_DAY M4_5_WEEK M4_5_MONTH
  SIGNIFICANT_HOUR SIGNIFICANT_DAY SIGNIFICANT_WEEK SIGNIFICANT_MONTH
}
input IngestEventsInput { events: [EventInput!]! }
input EventInput {
  eventId: String!  eventTsMs: EpochMillis  time: DateTime  mag: Float!  place: String
  lat: Float!  lon: Float!  depth: Float
  source: String! = "USGS"  magType: String  type: String  status: String  updated: EpochMillis  url: String
  tsunami: Boolean  felt: Int  alert: String  sig: Int
  net: String  code: String  ids: [String!]  sources: [String!]  types: [String!]
  nst: Int  dmin: Float  rms: Float  gap: Float  cdi: Float  mmi: Float  title: String  detail: String
}
type IngestStatus {
  polling: Boolean!  lastSuccess: EpochMillis  lastError: String  lastErrorAt: EpochMillis
  lastSuccessTime: DateTime  lastErrorTime: DateTime  nextAttemptTime: DateTime  lastChangesTime: DateTime
  failures: Int!  nextAttempt: EpochMillis  lastChanges: EpochMillis  changesFailures: Int!
  newestEventLagSeconds: Float
}
type IngestPayload {
  requestId: ID!  fetched: Int!  upserted: Int!  revised: Int!  deleted: Int!  skipped: Int!  rejected: Int!
  rejections: [Rejection!]!  truncated: Boolean!  retries: Int!
  upstreamSize: Int  upstreamHash: String  latencyMs: Int!
}
type CatalogueStatistics {
  count: Int!  largest: Event  series(interval: Interval! = MONTH): CountSeries!  magnitudeFrequency: [MagnitudeBin!]!
  completeness(corrected: Boolean! = true): Completeness!
  gutenbergRichter(completenessMagnitude: Float, corrected: Boolean! = true): GutenbergRichter!
  bPositive(leastDifference: Float! = 0.1, completenessMagnitude: Float): BPositive!
  rates(magnitudes: [Float!], confidence: Float! = 0.95): [EventRate!]!  seismicMoment: SeismicMoment!
  depths(binKm: Float! = 10): DepthHistogram!  interEventTimes(quantiles: [Float!]): InterEventTimes!
  grid(degreesPerCell: Float! = 5): Grid!
}
enum Interval { DAY MONTH YEAR }
type CountSeries { interval: Interval!  start: Date  counts: [Int!]! }
type MagnitudeBin { magnitude: Float!  count: Int!  cumulative: Int! }
type Completeness { magnitude: Float  reason: String }
type GutenbergRichter {
  completeness: Float  b: Float  uncertainty: Float  a: Float  aPerYear: Float  events: Int!
  reliability: Reliability  reason: String  goodnessOfFit: GoodnessOfFit  networks: [SeismicNetwork!]!
  bootstrap(confidence: Float! = 0.95): ConfidenceInterval  overTime(events: Int! = 200, step: Int): BValuesOverTime!
}
enum Reliability { GOOD DOUBTFUL POOR }
type GoodnessOfFit { distance: Float!  pValue: Float!  bChange: Float  isStable: Boolean }
type SeismicNetwork { network: String!  events: Int!  complete: Int!  completeness: Float }
type ConfidenceInterval { low: Float!  high: Float!  confidence: Float! }
type BValuesOverTime { windows: [BValueWindow!]!  reason: String }
type BValueWindow {
  firstMs: EpochMillis!  firstTime: DateTime!  lastMs: EpochMillis!  lastTime: DateTime!
  events: Int!  b: Float!  uncertainty: Float!
}
type BPositive { b: Float  uncertainty: Float  differences: Int!  reason: String }
type EventRate { magnitude: Float!  events: Int!  perYear: Float!  low: Float!  high: Float! }
type SeismicMoment { newtonMetres: Float!  magnitude: Float  events: Int!  binned: Int! }
type DepthHistogram { bins: [DepthBin!]!  unknown: Int!  reason: String }
type DepthBin { depth: Float!  count: Int! }
type InterEventTimes {
  number: Int!  meanSeconds: Float  coefficientOfVariation: Float  quantiles: [TimeQuantile!]!  reason: String
}
type TimeQuantile { part: Float!  seconds: Float! }
type Grid { degreesPerCell: Float!  cells: [GridCell!]!  reason: String }
type GridCell { lat: Float!  lon: Float!  count: Int!  greatest: Float }
scalar JSON @specifiedBy(url: "https://ecma-international.org/wp-content/uploads/ECMA-404_2nd_edition_december_2017.pdf")
scalar EpochMillis
scalar DateTime @specifiedBy(url: "https://scalars.graphql.org/andimarek/date-time")
scalar Date @specifiedBy(url: "https://scalars.graphql.org/andimarek/local-date")

type Rejection { index: Int!  eventId: String  code: String!  message: String! }

# Only the names of these are in the contract.
type RequestLog implements Node { id: ID! }
type RequestLogConnection { pageInfo: PageInfo! }
input RequestLogFilter { minStatus: Int }
type PopularFilters { totalRequests: Int! }
"""
OUTLINED = {"RequestLog", "RequestLogConnection", "RequestLogFilter", "PopularFilters"}

# The attributes of the documented items, but for their keys, their kind and their expiry.
EVENT_ITEM = """
    eventId eventTsMs mag place lat lon depth dayBucket source ingestedAt
    magType type status updated url tsunami felt alert sig
    sourceDepth net code ids sources types nst dmin rms gap cdi mmi title detail
    revision recordedAt publishedAt preferredId aliases mergedInto deletion revisions
"""
TIMES = "time ingestedTime updatedTime recordedTime publishedTime"  # of instants that the item has
ENUMERATIONS = "alertLevel reviewStatus"  # of texts that the item has
LOG_ITEM = """
    logType requestId timestamp route status latencyMs error
    fetched upserted revised skipped rejected retries upstreamSize upstreamHash
    starttime endtime minmagnitude pageSize resultCount hasNextToken bucketsScanned
"""


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    """The schema as a client reads it."""
    return build_schema(printed())


@pytest.fixture
def documented() -> GraphQLSchema:
    """The part of it that the contract is about: other domains may add to it."""
    return build_schema(schema_of(DOMAINS[:2]).printed)


def own_types(schema: GraphQLSchema) -> dict[str, GraphQLNamedType]:
    """The types that GraphQL itself does not bring."""
    return {
        name: named
        for name, named in schema.type_map.items()
        if not (is_introspection_type(named) or is_specified_scalar_type(named))
    }


def members(named: GraphQLNamedType) -> dict[str, Any]:
    """Name → definition of a type's fields or values."""
    if isinstance(named, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType):
        return dict(named.fields)
    return dict(named.values) if isinstance(named, GraphQLEnumType) else {}


def test_the_checked_in_schema_is_the_printed_one() -> None:
    assert CHECKED_IN.read_text() == printed()


def test_the_schema_is_what_the_contract_says(documented: GraphQLSchema) -> None:
    contract, ours = introspected(build_schema(CONTRACT)), introspected(documented)

    assert {name: ours[name] for name in contract.keys() - OUTLINED} == {
        name: contract[name] for name in contract.keys() - OUTLINED
    }
    assert ours.keys() - contract.keys() == {"LogType", "PopularFilter", "RequestLogEdge"}


def introspected(schema: GraphQLSchema) -> dict[str, Any]:
    """Each type without its description, as clients learn it from the service, with its members in one order."""
    answer = introspection_from_schema(lexicographic_sort_schema(schema), descriptions=False)
    return {named["name"]: named for named in answer["__schema"]["types"] if named["name"] in own_types(schema)}


def test_everything_in_it_is_described(schema: GraphQLSchema) -> None:
    assert list(undescribed(schema)) == []


def undescribed(schema: GraphQLSchema) -> Iterator[str]:
    for name, named in own_types(schema).items():
        if not (named.description or "").strip():
            yield name
        for member_name, member in members(named).items():
            if not (member.description or "").strip():
                yield f"{name}.{member_name}"
            for argument_name, argument in getattr(member, "args", {}).items():
                if not (argument.description or "").strip():
                    yield f"{name}.{member_name}({argument_name})"


def test_optional_arguments_have_no_default_of_null() -> None:
    assert "= null" not in printed()


def test_the_schema_has_every_attribute_of_an_event(documented: GraphQLSchema) -> None:
    others = {"id", "nearby", *TIMES.split(), *ENUMERATIONS.split()}
    assert members(own_types(documented)["Event"]).keys() == set(EVENT_ITEM.split()) | others


def test_the_schema_has_every_attribute_of_a_request_log(schema: GraphQLSchema) -> None:
    assert members(own_types(schema)["RequestLog"]).keys() == set(LOG_ITEM.split()) | {
        *("id", "time", "startTime", "endTime", "serviceLogs")
    }


def test_every_instant_in_epoch_milliseconds_is_a_time_too(schema: GraphQLSchema) -> None:
    """By one rule for the names of both, in every domain."""
    beside = {
        f"{name}.{member_name}": (str(member.type), str(getattr(fields.get(time_name(member_name)), "type", None)))
        for name, named in own_types(schema).items()
        if isinstance(named, GraphQLObjectType)
        for fields in [members(named)]
        for member_name, member in fields.items()
        if get_named_type(member.type).name == "EpochMillis"
    }

    assert len(beside) >= 19
    assert {
        name: types for name, types in beside.items() if types[1] != types[0].replace("EpochMillis", "DateTime")
    } == {}


@pytest.mark.parametrize(
    ("millis", "time"),
    [
        ("writtenAt", "writtenTime"),
        ("firstMs", "firstTime"),
        ("updated", "updatedTime"),
        ("endtime", "endTime"),
        ("timestamp", "time"),
        ("eventTsMs", "time"),
    ],
)
def test_a_time_is_named_after_its_milliseconds(millis: str, time: str) -> None:
    assert time_name(millis) == time
