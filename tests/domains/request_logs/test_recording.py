"""A record becomes a request log, whatever a domain hands over with it."""

from typing import Any

from graph.api.recording import Record
from graph.domains.request_logs.model import LogType
from graph.domains.request_logs.recording import log_of
from tests.domains.request_logs.builders import NOW, a_log, uuid


def a_record(**others: Any) -> Record:
    """A record of a query; what is not given does not matter."""
    values = {"route": "/earthquakes", "writes": False, "status": 200, "latency_ms": 3, **others}
    return Record(request_id=uuid(1), timestamp=NOW, **values)


def test_a_record_becomes_a_log() -> None:
    assert log_of(a_record()) == a_log(NOW)
    failed: dict[str, Any] = {"status": 503, "error": "DATABASE_UNAVAILABLE"}
    assert log_of(a_record(writes=True, **failed)) == a_log(NOW, log_type=LogType.INGEST, **failed)


def test_facts_with_a_documented_attribute_have_that_one() -> None:
    facts: dict[str, Any] = {"page_size": 50, "minmagnitude": 4.5, "starttime": None}

    assert log_of(a_record(facts=facts)) == a_log(NOW, **facts)


def test_storable_facts_of_a_domain_are_kept_together() -> None:
    for unstorable in (None, 1e200, float("nan"), 2**200, object(), {1, 2}):
        log = log_of(a_record(facts={"page_size": 50, "station": "GSC", "strange": unstorable}))

        assert log == a_log(NOW, page_size=50, facts={"station": "GSC"})
        assert log.facts == {"station": "GSC"}
        assert log_of(a_record(facts={"strange": unstorable})) == a_log(NOW)
