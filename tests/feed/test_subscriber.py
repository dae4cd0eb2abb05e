"""A subscriber: what it does not take is counted, and waits within its bounds."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from graph.feed.subscriber import Sent, Subscriber

CAPACITY = 6
Numbers = Subscriber[int]


def numbers(*some: int) -> list[Sent[int]]:
    return [(each, True) for each in some]


class AnySubscriber(RuleBasedStateMachine):
    """A subscriber whose reader and broadcast do what they may, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.subscriber = Numbers(lambda record: True, 0, CAPACITY)
        self.handed = self.taken = self.reported_dropped = 0
        self.last = -1

    @rule(number=st.integers(0, CAPACITY + 2))
    def hand(self, number: int) -> None:
        self.subscriber.hand(numbers(*range(self.handed, self.handed + number)))
        self.handed += number

    @precondition(lambda self: self.subscriber.backlog)
    @rule()
    def take(self) -> None:
        record, _ = self.subscriber.take()
        assert record > self.last
        self.last = record
        self.taken += 1

    @precondition(lambda self: self.subscriber.dropped and not self.subscriber.backlog)
    @rule()
    def notify(self) -> None:
        dropped = self.subscriber.notify()
        assert dropped > 0
        self.reported_dropped += dropped

    @invariant()
    def every_loss_is_reported(self) -> None:
        waiting, dropped = len(self.subscriber.backlog), self.subscriber.dropped
        assert waiting <= CAPACITY
        assert self.taken + waiting + self.reported_dropped + dropped == self.handed

    @invariant()
    def it_is_waited_for_only_where_more_than_half_is_in_use(self) -> None:
        assert self.subscriber.roomy.is_set() == (len(self.subscriber.backlog) <= CAPACITY // 2)


AnySubscriber.TestCase.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
TestAnySubscriber = AnySubscriber.TestCase


def test_a_slow_subscriber_stays_slow_until_its_backlog_is_empty() -> None:
    slow = Numbers(lambda record: True, 0, CAPACITY)
    slow.slow = True
    slow.hand(numbers(*range(CAPACITY)))

    for left in reversed(range(CAPACITY)):
        slow.take()
        assert slow.roomy.is_set() == (left <= CAPACITY // 2)
        assert slow.slow == (left > 0)


def test_all_that_follows_a_dropped_record_is_dropped_until_the_loss_is_reported() -> None:
    subscriber = Numbers(lambda record: True, 0, CAPACITY)
    assert subscriber.hand(numbers(*range(CAPACITY + 1))) == 1

    taken = [subscriber.take() for _ in range(CAPACITY)]
    assert (taken, subscriber.hand(numbers(7, 8))) == (numbers(*range(CAPACITY)), 2)
    assert (subscriber.notify(), subscriber.hand(numbers(9)), subscriber.take()) == (3, 0, (9, True))
