"""Leases of jobs that mean nothing, as domains declare theirs."""

from graph.runtime.lease import LEASE_ATTRIBUTES
from graph.store.attributes import Text, Whole
from graph.store.entity import Entity
from tests.store.samples import SAMPLES

LEASE = Entity(
    "LEASE",
    SAMPLES,
    key=("LEASE#{job}", "STATE"),
    attributes=(Text("job", in_key_alone=True), *LEASE_ATTRIBUTES, Whole("done", optional=True)),
)

POLL = Entity(
    "POLL",
    SAMPLES,
    key=("POLL", "STATE"),
    attributes=(
        Text("turn", optional=True),
        Whole("nextAttempt", optional=True),
        Whole("open", optional=True),
        Whole("done", optional=True),
    ),
)
