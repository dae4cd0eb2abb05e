"""The table of logs, its items and its access patterns are those of document 003, to any client of DynamoDB.

The original overwrote the first of two logs of one second, and its recent logs were the matching ones among the first
100 that a scan met. Here each second has many slots, and the recent logs of all types are found by the index.
"""

import pytest

from graph.domains.service_logs.entities import ENTITIES, LOGS
from graph.domains.service_logs.model import ServiceLogType
from tests.domains.data_files.followed import RawTable
from tests.domains.service_logs.builders import NOON, NOON_NS, SECOND, a_log, held_clock, logs_of
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
