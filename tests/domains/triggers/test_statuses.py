"""The statuses of an event: the document's transitions and no others."""

from collections.abc import Iterator
from copy import deepcopy

from graph.domains.triggers.statuses import EventProgress
from tests.domains.triggers.model_event import RECEIVED, ModelEvent, led_to


def steps(model: ModelEvent, progress: EventProgress) -> Iterator[tuple[ModelEvent, EventProgress]]:
    """All that may happen next."""
    for at, state in enumerate(model.deliveries):
        if state != "waiting":
            then = deepcopy(model)
            then.replay(at)
            yield then, progress.replayed(was_given_up=state == "failed")
            continue
        for attempted, ends in ((True, "delivered"), (True, ""), (True, "failed"), (False, "failed")):
            then, behind = deepcopy(model), progress
            if attempted:
                behind = progress.retried() if model.attempts[at] else progress
                then.attempt(at)
            if ends:
                then.end(at, ends)
                behind = behind.delivered() if ends == "delivered" else behind.given_up()
            else:
                then.postpone()
                behind = behind.postponed()
            yield then, behind
    then = deepcopy(model)
    then.acknowledge()
    yield then, progress.acknowledged()


def test_an_event_follows_the_documented_table_in_whatever_order_its_deliveries_end() -> None:
    for number in range(4):
        reached = [(ModelEvent(["waiting"] * number), EventProgress(RECEIVED, number, 0, 0))]
        for _ in range(5):
            further = {}
            for before in reached:
                for model, progress in steps(*before):
                    assert progress == model.progress
                    assert progress.status in led_to(before[1].status)
                    further[repr(model)] = model, progress
            reached = list(further.values())
