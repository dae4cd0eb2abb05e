"""The reads of the original platform for a page, by the algorithm in its documents. It designed this table.

It queries every day bucket of the time range, each for at most three times the page. It sorts all results and cuts
the page off. A cursor moves the end of the range. DynamoDB filters by magnitude, and charges for all items that it
reads, also for those that the filter drops.
"""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.conditions import Attr, Key

from benchmarks.dynamodb_traffic import Reads
from benchmarks.ordinary_dynamodb import days

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb.service_resource import Table

OVER_READ = 3  # items read from each day for each item of the page


async def reads(table: "Table", start_ms: int, end_ms: int, min_mag: float | None, size: int) -> Reads:
    """The reads for a page of this size, in a time range with inclusive ends."""
    request: dict[str, Any] = {
        "IndexName": "TimeOrderedIndex",
        "ScanIndexForward": False,
        "Limit": size * OVER_READ,
        "ReturnConsumedCapacity": "TOTAL",
    }
    if min_mag is not None:
        request["FilterExpression"] = Attr("mag").gte(Decimal(str(min_mag)))
    units = []
    for day in days(end_ms, start_ms):
        within = Key("gsi1pk").eq(f"DAY#{day}") & Key("gsi1sk").between(start_ms, end_ms)
        answer = await table.query(KeyConditionExpression=within, **request)
        units.append(answer["ConsumedCapacity"]["CapacityUnits"])
    return Reads(len(units), sum(units))
