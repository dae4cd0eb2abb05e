"""The slots of a batch are found without holding the event loop, and a crowd is not read again for each of its logs."""

from graph.domains.service_logs.checking import LogDraft
from graph.domains.service_logs.model import MOST_SHIFT, LogProblem
from graph.domains.service_logs.slots import PLACED_AT_ONCE, BatchSlots, TakenSlots
from tests.domains.service_logs.builders import NOON_NS, a_log, numbered, service_logs
from tests.turns import turns_counted

LOGS = 10 * PLACED_AT_ONCE


async def test_many_logs_are_placed_in_pieces() -> None:
    drafts = [LogDraft(n, "checkout", 1000 * n, {"log_id": f"{n}"}, n, 0) for n in range(LOGS)]
    async with service_logs("sqlite") as logs, turns_counted() as turns:
        placed = await BatchSlots(logs.database, logs.services, TakenSlots()).place(drafts)

    assert [draft.slot for draft in placed] == list(range(LOGS))
    assert turns.number >= LOGS // PLACED_AT_ONCE


async def test_a_log_is_shifted_by_a_crowd_as_far_as_the_bound_and_refused_behind_it() -> None:
    slot = NOON_NS // 1000
    async with service_logs("sqlite") as logs:
        for n in range(MOST_SHIFT):
            logs.writer.taken.add("checkout", slot + n, {"log_id": f"{n}", "time_unix_nano": "0"})
        report = await logs.writer.write([*numbered(3), a_log("cart")])

        assert (report.accepted, report.skipped) == (2, 0)
        assert [(each.index, each.code) for each in report.rejections] == [
            (1, LogProblem.TIME_CROWDED),
            (2, LogProblem.TIME_CROWDED),
        ]
        assert [log.timestamp for log in await logs.stored()] == [slot / 1e6, (slot + MOST_SHIFT) / 1e6]
