"""The floor: the same SQL and JSON on bare Starlette, without GraphQL. The operation's name selects the answer."""

from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.peers import store
from benchmarks.peers.store import Filter

FIELDS = ("eventId", "eventTsMs", "mag", "place", "lat", "lon", "depth", "source", "ingestedAt", "dayBucket")
INPUT_FIELDS = FIELDS[: FIELDS.index("ingestedAt")]


def answer(operation: str, variables: dict[str, Any]) -> dict[str, Any]:
    """The data that a GraphQL server would answer with."""
    selection = Filter(variables.get("startMs"), variables.get("endMs"), variables.get("minMag"))
    match operation:
        case "Event":
            row = store.event(variables["eventId"])
            return {"event": row and dict(zip(FIELDS, row, strict=True))}
        case "Events":
            rows, more = store.page(selection, variables["first"], variables.get("after"))
            edges = [{"cursor": store.cursor_of(row), "node": dict(zip(FIELDS, row, strict=True))} for row in rows]
            end = edges[-1]["cursor"] if edges else None
            return {"events": {"edges": edges, "pageInfo": {"hasNextPage": more, "endCursor": end}}}
        case "Count":
            return {"events": {"totalCount": store.count(selection)}}
        case "Ingest":
            accepted = store.ingest([tuple(event[name] for name in INPUT_FIELDS) for event in variables["events"]])
            return {"ingestEvents": {"accepted": accepted}}
    raise ValueError(operation)


async def endpoint(request: Request) -> Response:
    """Answer a request that looks like GraphQL."""
    body = orjson.loads(await request.body())
    data = answer(body["operationName"], body["variables"])
    return Response(orjson.dumps({"data": data}), media_type="application/json")


app = Starlette(routes=[Route("/graphql", endpoint, methods=["POST"])])
