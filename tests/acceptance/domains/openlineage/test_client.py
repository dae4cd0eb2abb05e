"""The client of OpenLineage sends to a running service as it is, with one of the service's tokens for its key."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openlineage.client import OpenLineageClient, event_v2, facet_v2
from openlineage.client.transport.http import ApiKeyTokenProvider, HttpCompression, HttpConfig, HttpTransport
from requests import HTTPError

from graph.access.callers import Scope
from graph.domains.data_files.scopes import FILES_READ, FILES_WRITE
from tests.bearers import bearer
from tests.domains.openlineage.builders import run_id
from tests.service import Service, running
from tests.settings import Settings

RUN = """query ($id: ID!) { run(runId: $id) {
  algorithm namespace state startedAt endedAt producer
  used { name revision } generated { name revision generatedBy { runId } } } }"""
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with running(Settings(store=f"sqlite:///{tmp_path / 'files.db'}")) as service:
        yield service


def client_of(service: Service, compression: HttpCompression | None = None, scope: Scope = FILES_WRITE) -> Any:
    """A client, with a token for its key."""
    key = bearer(scope)["Authorization"].removeprefix("Bearer ")
    config = HttpConfig(service.url, auth=ApiKeyTokenProvider({"api_key": key}), compression=compression)
    return OpenLineageClient(transport=HttpTransport(config))


def event(state: event_v2.RunState, inputs: list[Any], outputs: list[Any], number: int = 1) -> event_v2.RunEvent:
    """An event as the client makes it."""
    return event_v2.RunEvent(
        eventType=state,
        eventTime=NOON.isoformat(),
        run=event_v2.Run(
            run_id(number), facets={"nominalTime": facet_v2.nominal_time_run.NominalTimeRunFacet(NOON.isoformat())}
        ),
        job=event_v2.Job("airflow", "calibrate"),
        inputs=inputs,
        outputs=outputs,
        producer="https://example.org/dags",
    )


@pytest.mark.parametrize("compression", [None, HttpCompression.GZIP], ids=["plain", "gzip"])
def test_the_client_reports_runs_datasets_and_jobs(service: Service, compression: HttpCompression | None) -> None:
    version = facet_v2.dataset_version_dataset.DatasetVersionDatasetFacet("v7")
    raw = event_v2.InputDataset("s3://archive", "raw.nc", facets={"version": version})
    rad = event_v2.OutputDataset("quakegraph", "rad.nc")
    client = client_of(service, compression)

    client.emit(event(event_v2.RunState.START, [raw], []))
    client.emit(event(event_v2.RunState.COMPLETE, [raw], [rad]))
    told = event_v2.StaticDataset("quakegraph", "told.nc")
    client.emit(event_v2.DatasetEvent(eventTime=NOON.isoformat(), dataset=told))
    client.emit(event_v2.JobEvent(eventTime=NOON.isoformat(), job=event_v2.Job("airflow", "calibrate")))
    client.close()

    assert service.ask(RUN, {"id": run_id(1)})["run"] == {
        "algorithm": "calibrate",
        "namespace": "airflow",
        "state": "COMPLETE",
        "startedAt": "2024-01-01T12:00:00.000Z",
        "endedAt": "2024-01-01T12:00:00.000Z",
        "producer": "https://example.org/dags",
        "used": [{"name": "s3://archive#raw.nc", "revision": 1}],
        "generated": [{"name": "rad.nc", "revision": 1, "generatedBy": {"runId": run_id(1)}}],
    }
    assert service.ask('{ dataFile(name: "told.nc") { revision } }') == {"dataFile": {"revision": 1}}


def test_the_client_learns_that_an_event_is_refused(service: Service) -> None:
    raw, rad = event_v2.InputDataset("n", "raw.nc"), event_v2.OutputDataset("n", "rad.nc")
    client = client_of(service, scope=FILES_READ)

    with pytest.raises(HTTPError) as caught:
        client.emit(event(event_v2.RunState.COMPLETE, [raw], [rad]))
    client.close()

    assert caught.value.response is not None
    assert caught.value.response.status_code == 403
    assert service.ask(RUN, {"id": run_id(1)}) == {"run": None}
