"""Each rule for a log holds at its bounds, refuses with its code, and says nothing of the logs beside it."""

from dataclasses import replace
from typing import Any

from graph.domains.service_logs.checking import Checks
from graph.domains.service_logs.model import (
    LogProblem,
    NewLog,
    RejectedLog,
    ServiceLogLevel,
    ServiceLogType,
    WriteReport,
)
from graph.domains.service_logs.repairs import CHANGED, HALF_CHARACTER
from graph.domains.service_logs.settings import ServiceLogSettings
from tests.domains.service_logs.builders import DAY, NOON, NOON_NS, SECOND, a_log, is_consistent, service_logs

NOW = NOON // 1000
KEPT_2_DAYS: dict[str, Any] = {"application_log_days": 2, "system_log_days": 3, "audit_log_days": 0}
UUID = "0198f3c2-0000-7000-8000-00000000000a"
OTHER_UUID = "0198f3c2-0000-7000-8000-00000000000b"
TRACE, SPAN = "5b8efff7" * 4, "eee19b7e" * 2


def problem_of(log: NewLog, **settings: Any) -> LogProblem | None:
    """Why a log is refused."""
    found = Checks(ServiceLogSettings(**{**KEPT_2_DAYS, **settings}), NOW, {}).draft(7, log)
    assert found.index == 7
    return found.code if isinstance(found, RejectedLog) else None


def nested(levels: int) -> dict[str, Any]:
    """Metadata with so many levels."""
    value: dict[str, Any] = {"x": 1}
    for _ in range(levels - 1):
        value = {"x": value}
    return value


GOOD = [
    *(a_log(service=name) for name in ("a", "x" * 64, "käse & wine", "a#b", "#", "#1#", "checkout#10")),
    *(a_log(time_ns=time_ns) for time_ns in (NOON_NS + 7200 * SECOND + SECOND - 1, NOON_NS - 2 * DAY + SECOND)),
    *(a_log(time_ns=time_ns, log_type=ServiceLogType.AUDIT) for time_ns in (0, 1, NOON_NS)),
    a_log(time_ns=NOON_NS - 3 * DAY + SECOND, log_type=ServiceLogType.SYSTEM),
    *(a_log(message=message) for message in ("", "x" * 65_536, "\U0001f300" * 65_536, "\x00\n", "e\u0301")),
    *(a_log(severity=severity) for severity in (1, 24)),
    *(a_log(log_id=log_id) for log_id in (UUID, OTHER_UUID.upper(), None)),
    *(a_log(metadata=metadata) for metadata in (None, {}, {f"n{n}": n for n in range(128)}, nested(31))),
    a_log(metadata={"x": "y" * 65_531}),  # 65,536 bytes as DynamoDB counts them
    a_log(metadata={"null": None, "list": [True, 1.5, -(2**63), 2**63 - 1, {"ü": []}]}),
    *(a_log(trace_id=text) for text in (None, "", TRACE, TRACE.upper())),
    *(a_log(span_id=text) for text in (None, "", SPAN, SPAN.upper())),
    *(a_log(event_name=name) for name in (None, "", "x" * 256)),
]

REFUSED = [
    *((a_log(service=name), LogProblem.SERVICE_INVALID) for name in ("", "x" * 65, "a\x00", "a\nb", "\x7f", "\ud800")),
    *((a_log(service=f"a#{digit}"), LogProblem.SERVICE_INVALID) for digit in range(10)),
    (a_log(service="#1"), LogProblem.SERVICE_INVALID),
    *((a_log(time_ns=time_ns), LogProblem.TIME_INVALID) for time_ns in (-1, 2**63, -(10**30), 10**30)),
    (a_log(time_ns=NOON_NS + 7201 * SECOND), LogProblem.TIME_IN_FUTURE),
    (a_log(time_ns=2**63 - 1, log_type=ServiceLogType.AUDIT), LogProblem.TIME_IN_FUTURE),
    *((a_log(time_ns=time_ns), LogProblem.EXPIRED) for time_ns in (NOON_NS - 2 * DAY + SECOND - 1, 0)),
    (a_log(time_ns=NOON_NS - 3 * DAY + SECOND - 1, log_type=ServiceLogType.SYSTEM), LogProblem.EXPIRED),
    *(
        (a_log(log_id=text), LogProblem.LOG_ID_INVALID)
        for text in ("", UUID[:-1], f"{UUID}0", f"{UUID}\n", "g" + UUID[1:])
    ),
    (a_log(log_id=UUID.replace("-", "")), LogProblem.LOG_ID_INVALID),
    (a_log(metadata={f"n{n}": n for n in range(129)}), LogProblem.METADATA_INVALID),
    *((a_log(metadata={"x": value}), LogProblem.METADATA_INVALID) for value in (2**63, 1e126, 1e-131, object())),
    *((a_log(metadata={"x": value}), LogProblem.METADATA_INVALID) for value in (float("nan"), float("inf"))),
    (a_log(metadata={"": 1}), LogProblem.METADATA_INVALID),
    (a_log(metadata=nested(32)), LogProblem.METADATA_INVALID),
]


def test_a_log_at_a_bound_of_each_rule_is_taken_and_one_beyond_is_refused_with_the_code_of_the_rule() -> None:
    assert [problem_of(log) for log in GOOD] == [None] * len(GOOD)
    assert [problem_of(log) for log, _ in REFUSED] == [problem for _, problem in REFUSED]
    for log_type in ServiceLogType:  # of a type that is kept for ever, none expires
        days = f"{log_type.value}_log_days"
        assert problem_of(a_log(time_ns=0, log_type=log_type), **{days: 0}) is None
        assert problem_of(a_log(time_ns=0, log_type=log_type), **{days: 36_500}) is LogProblem.EXPIRED


def stored(log: NewLog) -> Any:
    """The item of a log."""
    draft = Checks(ServiceLogSettings(), NOW, {}).draft(0, log)
    assert not isinstance(draft, RejectedLog)
    return draft.item


def test_a_log_is_kept_without_an_id_of_a_trace_or_span_that_is_none_and_says_so() -> None:
    for name, right in (("trace_id", TRACE), ("span_id", SPAN)):
        for text in (right[1:], f"{right}0", "g" + right[1:], f"{right}\n", "ä" + right[1:]):
            given: dict[str, Any] = {name: text}
            item = stored(a_log(**given))
            assert name not in item
            note = f"{name} left out: it must have {len(right)} hexadecimal digits"
            assert item["metadata"] == {"quakegraph.changed": note}


def test_a_text_that_is_too_long_or_no_unicode_is_shortened_or_repaired_and_the_log_says_so() -> None:
    trace = "x" * 73_000
    item = stored(a_log(message=trace, metadata={"a": 1}))
    assert (len(item["message"]), item["message"][65_510:]) == (65_536, "xxxxxxxx… (73,000 characters)"[-26:])
    assert item["metadata"] == {"a": 1, "quakegraph.changed": "message cut from 73,000 characters"}
    assert item["log_id"] != stored(a_log(message=trace + "y"))["log_id"], "what was cut tells them apart"

    half = "half a surrogate pair replaced"
    item = stored(a_log(message="cut \ud83d", metadata={"\udc00": ["\ud83d\ude00", {"b": "\ud800"}]}))
    assert item["message"] == "cut \ufffd"
    assert item["metadata"] == {"\ufffd": ["\U0001f600", {"b": "\ufffd"}], "quakegraph.changed": half}
    item = stored(a_log(event_name="\ud800" + "x" * 300, severity_text="\ud800" + "x" * 300))
    assert (item["event_name"], item["severity_text"]) == ("\ufffd" + "x" * 255, "\ufffd" + "x" * 63)


def test_metadata_that_are_too_large_are_cut_or_left_out_from_the_longest_and_the_log_says_so() -> None:
    given = {"stack": "x" * 73_000, "script": "ا" * 73_000, "list": ["y" * 73_000], "a": 1}
    cut = stored(a_log(metadata=given))["metadata"]
    assert (cut.keys(), cut["a"]) == ({"stack", "script", "a", CHANGED}, 1)
    assert set(cut[CHANGED].split(", ")) == {
        *("stack cut from 73,000 characters", "script cut from 73,000 characters", "list left out: it is too large")
    }
    assert len(cut["stack"]) > 20_000
    assert all(cut[name].endswith("… (73,000 characters)") for name in ("stack", "script"))

    one = stored(a_log(metadata={"stack": "\ud800" + "x" * 73_000}))["metadata"]
    assert (len(one["stack"]) > 63_000, one[CHANGED]) == (True, f"{HALF_CHARACTER}, stack cut from 73,001 characters")
    names = {f"{n:03}".ljust(600, "é"): "y" * 600 for n in range(128)}
    first = [f"{n:03}".ljust(64, "é") + " left out: it is too large" for n in range(5)]
    assert stored(a_log(metadata=names))["metadata"] == {CHANGED: ", ".join([*first, "and 123 more"])}
    whole = {"x": "y" * 65_530}
    assert stored(a_log(metadata=whole))["metadata"] == whole


def test_a_level_has_the_severity_numbers_of_opentelemetry() -> None:
    levels = (
        [ServiceLogLevel.DEBUG] * 8
        + [ServiceLogLevel.INFO] * 4
        + [ServiceLogLevel.WARN] * 4
        + [ServiceLogLevel.ERROR] * 8
    )
    assert [ServiceLogLevel.of(severity) for severity in range(1, 25)] == levels
    assert all(ServiceLogLevel.of(level.usual_severity) is level for level in ServiceLogLevel)


async def test_what_is_at_the_bounds_is_stored_as_it_is_and_the_rest_changes_nothing(engine: str) -> None:
    async with service_logs(engine, **KEPT_2_DAYS) as logs:
        mixed: list[NewLog] = []
        for good, refused in zip(GOOD, [log for log, _ in REFUSED] * 2, strict=False):
            mixed += [good, refused]
        expected = [(2 * n + 1, REFUSED[n % len(REFUSED)][1]) for n in range(len(GOOD))]

        report = await logs.writer.write(mixed)

        assert [(each.index, each.code) for each in report.rejections] == expected
        assert (report.accepted, report.skipped) == (len(GOOD), 0)
        stored = await logs.stored()
        assert sorted((log.service, log.message, log.time_unix_nano, log.severity_number) for log in stored) == sorted(
            (log.service, log.message, str(log.time_ns), log.severity) for log in GOOD
        )
        assert sorted(str(log.metadata) for log in stored if len(log.metadata or {}) == 1) == sorted(
            str(log.metadata) for log in GOOD if len(log.metadata or {}) == 1
        )
        assert await is_consistent(logs)


async def test_refused_logs_leave_nothing_behind_and_do_not_change_derived_ids(engine: str) -> None:
    async with service_logs(engine) as logs:
        report = await logs.writer.write([a_log("new", log_id="none"), a_log("")])
        assert (report.accepted, report.rejected) == (0, 2)
        assert (await logs.stored(), await logs.counters(), await logs.services.all()) == ([], {}, [])
        assert await logs.writer.sequence.latest() == 0
        assert await logs.write() == WriteReport(0, 0, ())

        report = await logs.writer.write([replace(a_log(), log_id="none"), a_log()])
        assert (report.accepted, [each.index for each in report.rejections]) == (1, [0])
        assert await logs.write(a_log()) == WriteReport(0, 1, ())
