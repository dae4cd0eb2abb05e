"""Logs as another program writes them, by boto3 and in the words of the document."""

from typing import Any
from uuid import uuid4

from graph.domains.service_logs.entities import LOGS
from graph.store.contract import Database
from graph.store.dynamodb.engine import DynamoDatabase
from tests.domains.service_logs.builders import NOON
from tests.other_programs import table_named

NOON_S = NOON // 1000
DAYS_90 = 90 * 24 * 60 * 60


def a_log_entry(service_name: str = "api-service", timestamp: Any = NOON_S, **others: Any) -> dict[str, Any]:
    """The document's `log_entry`, with all that it requires."""
    return {
        "service_name": service_name,
        "timestamp": timestamp,
        "log_id": str(uuid4()),
        "log_type": "application",
        "level": "INFO",
        "message": "Request handled",
        **others,
    }


def table_behind(database: Database) -> Any:
    """The table of logs of an open database, as boto3 has it."""
    assert isinstance(database, DynamoDatabase)
    return table_named(database._requests.tables[LOGS])
