"""Lines of NDJSON for the tests of the commands, and the settings under which logs of any time are kept."""

from typing import Any

import orjson
from click.testing import Result

from tests.processes import quakegraph

KEPT = {f"GRAPH_{log_type}_LOG_DAYS": "0" for log_type in ("APPLICATION", "SYSTEM", "AUDIT")}
SECOND = 1_700_000_000


def a_line(message: str = "Paid", **others: Any) -> dict[str, Any]:
    """A log as a line has it."""
    return {"service": "checkout", "message": message, "timestamp": SECOND, **others}


def a_request(*records: dict[str, Any], service: str = "checkout") -> dict[str, Any]:
    """A request of OTLP JSON."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": {}, "logRecords": list(records)}]}]}


def a_record(message: str = "Paid", **others: Any) -> dict[str, Any]:
    """A record of a request."""
    return {"timeUnixNano": f"{SECOND}000000000", "body": {"stringValue": message}, **others}


def ndjson(*lines: dict[str, Any] | bytes) -> bytes:
    """The lines of a file. Bytes stand for themselves."""
    return b"".join((line if isinstance(line, bytes) else orjson.dumps(line)) + b"\n" for line in lines)


def logs(*arguments: str, stdin: bytes = b"") -> Result:
    """Run `quakegraph logs` in this process and in the working folder."""
    return quakegraph("logs", *arguments, settings=KEPT, stdin=stdin)


def imported(*lines: dict[str, Any] | bytes) -> str:
    """Import lines from standard input. Returns the summary line."""
    return logs("import", "-", stdin=ndjson(*lines)).stdout.splitlines()[0]


def stored(*options: str) -> list[dict[str, Any]]:
    """The stored logs in order of time."""
    printed = logs("tail", "--no-follow", "--lines", "10000", "--json", *options).stdout
    return [orjson.loads(line) for line in printed.splitlines()]
