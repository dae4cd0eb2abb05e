"""The states of a subscriber, and all transitions between them, as one table.

    replaying ──JOIN──▶ joined ──OVERFLOW──▶ overflowing
                          ▲                      │
                          └───────NOTIFY─────────┘

A filter that fails leads from joined and overflowing to failed. Every state leads to ended.
"""

from collections.abc import Mapping
from enum import Enum, auto


class State(Enum):
    """What a subscriber is doing."""

    REPLAYING = auto()  # It reads records by itself that the broadcast has already sent.
    JOINED = auto()  # The broadcast hands it each further record.
    OVERFLOWING = auto()  # Its backlog was full. Records are dropped until it receives their number.
    FAILED = auto()  # Its filter has raised an error, which it receives after its backlog.
    ENDED = auto()


class Transition(Enum):
    """What happens to a subscriber."""

    JOIN = auto()  # It has seen as much as the broadcast.
    OVERFLOW = auto()  # A record found no room.
    NOTIFY = auto()  # It receives the number of dropped records.
    FAIL = auto()  # Its filter raises an error.
    END = auto()  # It unsubscribes, is completed, or fails.


TRANSITIONS: Mapping[State, Mapping[Transition, State]] = {
    State.REPLAYING: {
        Transition.JOIN: State.JOINED,
        Transition.END: State.ENDED,
    },
    State.JOINED: {
        Transition.OVERFLOW: State.OVERFLOWING,
        Transition.FAIL: State.FAILED,
        Transition.END: State.ENDED,
    },
    State.OVERFLOWING: {
        Transition.NOTIFY: State.JOINED,
        Transition.FAIL: State.FAILED,
        Transition.END: State.ENDED,
    },
    State.FAILED: {
        Transition.NOTIFY: State.FAILED,
        Transition.END: State.ENDED,
    },
    State.ENDED: {},
}


class IllegalTransition(Exception):
    """The table has no such transition: a defect of the calling code."""


def after(state: State, transition: Transition) -> State:
    """The state that a transition leads to.

    Raises:
        IllegalTransition: The state has no such transition.
    """
    try:
        return TRANSITIONS[state][transition]
    except KeyError:
        raise IllegalTransition(f"{transition.name} in {state.name}") from None
