"""The documented alarms of the logs' table: throttling, errors, use of the capacity, and latency (p99)."""

from graph.store.configuration import Alarm

OPERATIONS = (
    *("BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem"),
    *("Query", "Scan", "TransactWriteItems", "UpdateItem"),
)

ALARMS = (
    Alarm("ThrottledRequests", above=0, operations=OPERATIONS),
    Alarm("SystemErrors", above=0, operations=OPERATIONS),
    Alarm("UserErrors", above=10),
    # Auto-scaling needs some minutes: what lasts longer is beyond the most that it may provision.
    Alarm("ConsumedReadCapacityUnits", above=70, minutes=15),
    Alarm("ConsumedWriteCapacityUnits", above=70, minutes=15),
    *(
        Alarm("SuccessfulRequestLatency", above=milliseconds, operations=(operation,), statistic="p99")
        for operation, milliseconds in {"PutItem": 50, "Query": 100, "Scan": 200}.items()
    ),
)
