"""A service whose events were revised, deleted, renamed and merged."""

from collections.abc import Iterator
from typing import Any

import pytest

from graph.core.times import rfc3339_of_millis
from tests.domains.earthquakes.schema.test_revisions import store
from tests.domains.earthquakes.usgs.usgs_server import UsgsServer
from tests.service import Service, running, settings
from tests.store.samples import HeldClock

BEGIN = 1_691_000_000_000
HISTORY: list[dict[str, Any]] = [
    {"eventId": "us1", "mag": 4.5, "magType": "mb", "status": "automatic"},
    {"eventId": "us1", "mag": 4.8, "magType": "mww", "lat": 1.5, "status": "reviewed"},
    {"eventId": "us1", "mag": 4.8, "magType": "mww", "lat": 1.5, "status": "reviewed", "place": "Elsewhere"},
    {"eventId": "us1", "mag": 4.5, "magType": "mb", "lat": 1.6, "status": "reviewed", "place": "Elsewhere"},
    {"eventId": "us2", "mag": 6.5, "eventTsMs": BEGIN + 1},
    {"eventId": "us2", "mag": 6.5, "eventTsMs": BEGIN + 1, "status": "deleted"},
    {"eventId": "us3", "mag": 5.5, "eventTsMs": BEGIN + 2, "ids": ["us3", "nc9"]},
    {"eventId": "us4", "mag": 5.6, "eventTsMs": BEGIN + 3},
    {"eventId": "us3", "mag": 5.5, "eventTsMs": BEGIN + 2, "ids": ["us3", "nc9", "us4"]},
]
"""Records of the source, one after the other, a second apart."""


@pytest.fixture(scope="module")
def revised(tmp_path_factory: pytest.TempPathFactory, _usgs: UsgsServer) -> Iterator[Service]:
    """A service that has ingested the history."""
    clock = HeldClock()
    with running(settings(tmp_path_factory.mktemp("revised") / "revised.db", _usgs), clock=clock) as service:
        for number, record in enumerate(HISTORY):
            clock.now += 1000
            event = {"eventTsMs": BEGIN, "lat": 1, "lon": 2, "depth": 3, **record}
            event["updatedAt"] = rfc3339_of_millis(BEGIN + number)
            assert sum(store(service, event).values()) == 1, "none is rejected"
        yield service
