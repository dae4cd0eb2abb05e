"""Reports the capacity units that a client of DynamoDB consumes to a meter.

DynamoDB returns the units of a successful request on demand. A cancelled transaction is charged too,
but returns no units. So the count is a lower bound.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from botocore.model import OperationModel

from graph.store.meter import Meter

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb import DynamoDBClient

WRITES = frozenset({"PutItem", "BatchWriteItem", "TransactWriteItems"})
ASK_FOR_UNITS = {"ReturnConsumedCapacity": "TOTAL"}


def report_units(meter: Meter, operation: str, answer: Mapping[str, Any]) -> None:
    """Report the units of one request from its answer."""
    consumed = answer.get("ConsumedCapacity", [])
    each = consumed if isinstance(consumed, list) else [consumed]  # a list if there can be several tables
    if units := sum(table.get("CapacityUnits", 0) for table in each):
        meter.units("write" if operation in WRITES else "read", units)


def count_units(client: "DynamoDBClient", meter: Meter) -> None:
    """Report the units of every request that botocore sends for this client from now on."""

    def ask(params: dict[str, Any], model: OperationModel, **_: object) -> None:
        if model.input_shape is not None and "ReturnConsumedCapacity" in model.input_shape.members:
            params.update(ASK_FOR_UNITS)

    def report(parsed: dict[str, Any], model: OperationModel, **_: object) -> None:
        report_units(meter, model.name, parsed)

    client.meta.events.register("before-parameter-build.dynamodb", ask)
    client.meta.events.register("after-call.dynamodb", report)
