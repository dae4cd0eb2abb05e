"""The table of logs, its items and its access patterns are those of document 003, to any client of DynamoDB.

The original overwrote the first of two logs of one second, and its recent logs were the matching ones among the first
100 that a scan met. Here each second has many slots, and the recent logs of all types are found by the index.
"""

from typing import Any

import pytest
from boto3.dynamodb.conditions import Key

from graph.domains.service_logs.entities import ENTITIES, LOGS
from graph.domains.service_logs.model import ServiceLogType
from tests.domains.data_files.followed import RawTable
from tests.domains.service_logs.builders import NOON, NOON_NS, SECOND, a_log, held_clock, logs_of
from tests.other_programs import table_of
from tests.store.engines import make_tables, open_dynamodb

NOON_S = NOON // 1000
DAYS_90 = 90 * 86_400


@pytest.mark.usefixtures("dynamodb_endpoint")
async def test_logs_stand_in_the_documented_table_and_are_found_by_its_access_patterns() -> None:
    prefix = make_tables(ENTITIES)
    raw = RawTable(LOGS, prefix)
    async with open_dynamodb(ENTITIES, prefix=prefix, clock=held_clock()) as database:
        logs = logs_of(database, clock=held_clock(), audit_log_days=0)
        await logs.write(
            a_log("api-service", message="first", severity=13, metadata={"user": "anna", "ms": 5}),
            a_log("api-service", message="second"),  # of the same second
            a_log("api-service", NOON_NS - 3600 * SECOND, "an hour before"),
            a_log("cart", message="audited", log_type=ServiceLogType.AUDIT),
        )

    assert raw.name.startswith(f"{prefix}simple-log-service-")
    assert raw.name.endswith("-logs")
    assert raw.keys() == {"": ["service_name S", "timestamp N"], "TimestampIndex": ["log_type S", "timestamp N"]}

    of_service = raw.query(
        "service_name = :service AND timestamp BETWEEN :start AND :end",
        service="api-service",
        start=NOON_S - 60,
        end=NOON_S + 60,
    )
    assert [item["message"] for item in of_service] == ["first", "second"]
    first = of_service[0]
    assert (first["timestamp"], of_service[1]["timestamp"]) == (NOON_S, NOON_S + 0.000001)
    assert first["ttl"] == NOON_S + DAYS_90
    assert (first["log_type"], first["level"], first["metadata"]) == ("application", "WARN", {"user": "anna", "ms": 5})
    assert len(first["log_id"]) == 36

    of_type = "log_type = :type AND timestamp >= :cutoff"
    found = raw.query(of_type, "TimestampIndex", type="application", cutoff=NOON_S - 86_400)
    assert [item["message"] for item in found] == ["an hour before", "first", "second"]
    (audited,) = raw.query(of_type, "TimestampIndex", type="audit", cutoff=NOON_S - 86_400)
    assert (audited["service_name"], audited.get("ttl")) == ("cart", None)


@pytest.mark.usefixtures("dynamodb_endpoint")
async def test_the_document_s_own_queries_and_its_scan_find_our_logs() -> None:
    prefix = make_tables(ENTITIES)
    table = table_of(LOGS, prefix)
    async with open_dynamodb(ENTITIES, prefix=prefix, clock=held_clock()) as database:
        logs = logs_of(database, clock=held_clock(), hot_services=("busy",))
        await logs.write(
            *(a_log("api-service", NOON_NS + n * SECOND, f"{n}") for n in range(3)),
            a_log("api-service", log_type=ServiceLogType.AUDIT, message="audited"),
            *(a_log("busy", NOON_NS + n * SECOND, f"busy {n}", log_type=ServiceLogType.SYSTEM) for n in range(20)),
        )
    start, end, cutoff = NOON_S, NOON_S + 1, NOON_S + 2

    def messages(answer: dict[str, Any]) -> list[str]:
        return [item["message"] for item in answer["Items"]]

    by_service = table.query(
        KeyConditionExpression=Key("service_name").eq("api-service") & Key("timestamp").between(start, end)
    )
    assert sorted(messages(by_service)) == ["0", "1", "audited"]
    by_type = table.query(
        IndexName="TimestampIndex",
        KeyConditionExpression=Key("log_type").eq("application") & Key("timestamp").gte(cutoff),
    )
    assert messages(by_type) == ["2"]
    recent = table.scan(FilterExpression=Key("timestamp").gte(cutoff), Limit=100)
    assert sorted(messages(recent)) == sorted(["2", *(f"busy {n}" for n in range(2, 20))])

    of_shards = []
    for shard_id in range(10):
        service_name_sharded = f"busy#{shard_id}"
        of_shards += messages(table.query(KeyConditionExpression=Key("service_name").eq(service_name_sharded)))
    assert sorted(of_shards) == sorted(f"busy {n}" for n in range(20))
    assert all(item["ttl"] == int(item["timestamp"]) + DAYS_90 for item in recent["Items"])
