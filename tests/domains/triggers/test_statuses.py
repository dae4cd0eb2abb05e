"""The statuses of an event: the document's transitions and no others, whatever becomes of its deliveries."""

from itertools import product

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from graph.domains.triggers.errors import Conflict
from graph.domains.triggers.statuses import Progress, Transition, TriggerEventStatus, after
from tests.domains.triggers.model_event import ModelEvent
from tests.effort import rounds

RECEIVED, DELIVERED, FAILED, RETRYING = (
    TriggerEventStatus.RECEIVED,
    TriggerEventStatus.DELIVERED,
    TriggerEventStatus.FAILED,
    TriggerEventStatus.RETRYING,
)

# Document 004, "Status Transitions".
DOCUMENTED = {
    (RECEIVED, DELIVERED): Transition.DELIVER,
    (RECEIVED, FAILED): Transition.FAIL,
    (FAILED, RETRYING): Transition.RETRY,
    (RETRYING, DELIVERED): Transition.DELIVER,
    (RETRYING, FAILED): Transition.FAIL,
}


def test_a_transition_leads_where_the_document_says_or_is_refused() -> None:
    for status, transition in product(TriggerEventStatus, Transition):
        allowed = [to for (begin, to), by in DOCUMENTED.items() if (begin, by) == (status, transition)]
        if allowed:
            assert [after(status, transition)] == allowed
        else:
            with pytest.raises(Conflict) as refused:
                after(status, transition)
            assert (refused.value.code, refused.value.status) == ("CONFLICT", 409)
            assert str(refused.value) == f"An event that is {status.value} cannot {transition.name.lower()}."
    with pytest.raises(Conflict):
        after(FAILED, Transition.RETRY, Transition.DELIVER, Transition.FAIL)


def leads(before: TriggerEventStatus, then: TriggerEventStatus) -> bool:
    """Whether at most two documented transitions lead from one status to another."""
    behind = {before, *(to for begin, to in DOCUMENTED if begin is before)}
    return then in behind or any((each, then) in DOCUMENTED for each in behind)


chosen = st.integers(0, 10)


class Transitions(RuleBasedStateMachine):
    """One event, whose deliveries end in any order, are replayed, and whose user acknowledges it at any time."""

    @initialize(deliveries=st.integers(0, 4))
    def begin(self, deliveries: int) -> None:
        self.model = ModelEvent(["waiting"] * deliveries)
        self.progress = Progress(RECEIVED, deliveries, 0, 0)

    def advance(self, then: Progress) -> None:
        assert leads(self.progress.status, then.status)
        self.progress = then

    def attempted(self, number: int) -> int | None:
        """A waiting delivery, once it is attempted."""
        if not (waiting := self.model.at("waiting")):
            return None
        at = waiting[number % len(waiting)]
        if self.model.attempts[at]:
            self.progress = self.progress.retried()
        self.model.attempt(at)
        return at

    @rule(number=chosen)
    def deliver(self, number: int) -> None:
        if (at := self.attempted(number)) is not None:
            self.model.end(at, "delivered")
            self.advance(self.progress.delivered())

    @rule(number=chosen)
    def postpone(self, number: int) -> None:
        if self.attempted(number) is not None:
            self.model.postpone()
            self.advance(self.progress.postponed())

    @rule(number=chosen, attempted=st.booleans())
    def give_up(self, number: int, attempted: bool) -> None:
        waiting = self.model.at("waiting")
        if waiting:
            at = self.attempted(number) if attempted else waiting[number % len(waiting)]
            assert at is not None
            self.model.end(at, "failed")
            self.advance(self.progress.given_up())

    @rule(number=chosen, state=st.sampled_from(["delivered", "failed"]))
    def replay(self, number: int, state: str) -> None:
        if ended := self.model.at(state):
            self.model.replay(ended[number % len(ended)])
            self.advance(self.progress.replayed(was_given_up=state == "failed"))

    @rule()
    def acknowledge(self) -> None:
        self.model.acknowledge()
        self.advance(self.progress.acknowledged())

    @invariant()
    def it_is_as_the_document_says(self) -> None:
        if hasattr(self, "model"):
            assert self.progress == self.model.progress


@pytest.mark.repeated
def test_an_event_follows_the_documented_table_in_whatever_order_its_deliveries_end() -> None:
    run_state_machine_as_test(Transitions, settings=settings(max_examples=rounds(300), stateful_step_count=25))
