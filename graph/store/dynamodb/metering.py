"""Tells a meter what a client of DynamoDB consumes: capacity units, and connections at the same time.

DynamoDB reports the units of a request that succeeded, where it is asked to. A transaction
that was cancelled is charged too, and tells nothing: the count is a lower bound.
"""

from typing import TYPE_CHECKING, Any

from aiobotocore.httpsession import AIOHTTPSession
from botocore.model import OperationModel

from graph.store.meter import Meter, PoolUse

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb import DynamoDBClient

WRITES = frozenset({"PutItem", "BatchWriteItem", "TransactWriteItems"})


def count_units(client: "DynamoDBClient", meter: Meter) -> None:
    """Report the units of every request of this client from now on."""

    def ask(params: dict[str, Any], model: OperationModel, **_: object) -> None:
        if model.input_shape is not None and "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def report(parsed: dict[str, Any], model: OperationModel, **_: object) -> None:
        consumed = parsed.get("ConsumedCapacity", [])
        each = consumed if isinstance(consumed, list) else [consumed]  # a list where tables could be several
        if units := sum(table.get("CapacityUnits", 0) for table in each):
            meter.units("write" if model.name in WRITES else "read", units)

    client.meta.events.register("before-parameter-build.dynamodb", ask)
    client.meta.events.register("after-call.dynamodb", report)


def pooled(meter: Meter, connections: int) -> type[AIOHTTPSession]:
    """The class of a client's HTTP session, which knows how many requests are under way."""
    under_way = 0

    class PooledSession(AIOHTTPSession):
        async def send(self, request: Any) -> Any:
            nonlocal under_way
            under_way += 1
            try:
                return await super().send(request)
            finally:
                under_way -= 1

    def use() -> PoolUse:
        return PoolUse(busy=min(under_way, connections), waiting=max(under_way - connections, 0))

    meter.pool("connections", connections, use)
    return PooledSession
