"""The statuses of an event: the document's transitions and no others."""

from collections.abc import Iterator
from copy import deepcopy
from itertools import product

import pytest

from graph.domains.triggers.errors import Conflict
from graph.domains.triggers.statuses import EventProgress, EventTransition, TriggerEventStatus, after
from tests.domains.triggers.model_event import DOCUMENTED, FAILED, RECEIVED, ModelEvent, led_to


def test_a_transition_leads_where_the_document_says_or_is_refused() -> None:
    for status, transition in product(TriggerEventStatus, EventTransition):
        allowed = [to for (begin, to), by in DOCUMENTED.items() if (begin, by) == (status, transition)]
        if allowed:
            assert [after(status, transition)] == allowed
        else:
            with pytest.raises(Conflict) as refused:
                after(status, transition)
            assert (refused.value.code, refused.value.status) == ("CONFLICT", 409)
            assert str(refused.value) == f"An event that is {status.value} cannot {transition.name.lower()}."
    with pytest.raises(Conflict):
        after(FAILED, EventTransition.RETRY, EventTransition.DELIVER, EventTransition.FAIL)


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
