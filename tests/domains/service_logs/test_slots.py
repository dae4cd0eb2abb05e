"""The slots of a batch are found without holding the event loop."""

from graph.domains.service_logs.checking import Draft
from graph.domains.service_logs.slots import PLACED_AT_ONCE, Slots
from tests.domains.service_logs.builders import service_logs
from tests.turns import turns_counted

LOGS = 10 * PLACED_AT_ONCE


async def test_many_logs_are_placed_in_pieces() -> None:
    drafts = [Draft(n, "checkout", 1000 * n, {"log_id": f"{n}"}, n, 0) for n in range(LOGS)]
    async with service_logs("sqlite") as logs, turns_counted() as turns:
        placed, skipped = await Slots(logs.database, logs.services).place(drafts)

    assert ([draft.slot for draft in placed], skipped) == (list(range(LOGS)), 0)
    assert turns.number >= LOGS // PLACED_AT_ONCE
