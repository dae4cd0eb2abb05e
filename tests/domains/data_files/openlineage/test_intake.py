"""Events become runs with their edges, the same whatever their order and however often they come."""

import asyncio
from collections.abc import AsyncIterator
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.data_files.errors import ProvenanceCycle
from graph.domains.data_files.exports.datasets import dataset_version
from graph.domains.data_files.model import RunState
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.references import Version
from graph.domains.data_files.registering import Registration
from tests.domains.data_files.openlineage.builders import (
    Receiver,
    dataset,
    empty_receiver,
    receiver,
    run_event,
    run_id,
)
from tests.store.samples import HeldClock


@pytest.fixture
async def taking(engine: str) -> AsyncIterator[Receiver]:
    async with empty_receiver(engine) as taking:
        yield taking


async def test_a_run_uses_its_inputs_and_generates_its_outputs(taking: Receiver) -> None:
    await taking.take(
        run_event(1, "START", inputs=["raw.nc"]),
        run_event(1, "COMPLETE", outputs=["rad.nc"]),
    )

    assert await taking.edges() == {("01", "used", "raw.nc@1"), ("01", "generated", "rad.nc@1")}
    (run,) = await taking.all_runs()
    assert (run.algorithm, run.namespace, run.producer) == ("calibrate", "airflow", "https://example.org/scheduler/1.0")
    assert run.state is RunState.COMPLETE
    assert (run.started_at.isoformat(), run.ended_at.isoformat()) == (
        "2024-01-01T00:00:00+00:00",
        "2024-01-01T03:00:00+00:00",
    )


async def test_outputs_are_generated_when_their_run_completes(taking: Receiver) -> None:
    await taking.take(run_event(1, "START", ["raw.nc"], ["rad.nc"]))
    assert await taking.edges() == {("01", "used", "raw.nc@1")}

    await taking.take(run_event(1, "COMPLETE"))
    assert ("01", "generated", "rad.nc@1") in await taking.edges()


@pytest.mark.parametrize("end", ["FAIL", "ABORT"])
async def test_a_run_that_fails_generates_nothing(taking: Receiver, end: str) -> None:
    await taking.take(run_event(1, "START", ["raw.nc"], ["rad.nc"]), run_event(1, end, ["raw.nc"], ["rad.nc"]))

    assert await taking.edges() == {("01", "used", "raw.nc@1")}


async def test_each_run_makes_a_new_revision_of_what_it_generates(taking: Receiver) -> None:
    for number in (1, 2):
        await taking.take(run_event(number, "COMPLETE", ["raw.nc"], ["rad.nc"]))

    assert await taking.edges() == {
        ("01", "used", "raw.nc@1"),
        ("01", "generated", "rad.nc@1"),
        ("02", "used", "raw.nc@1"),
        ("02", "generated", "rad.nc@2"),
    }


async def test_a_run_may_use_what_it_generates_anew(taking: Receiver) -> None:
    for number in (1, 2):
        await taking.take(run_event(number, "COMPLETE", ["table"], ["table"]))

    assert await taking.edges() == {
        ("01", "used", "table@1"),
        ("01", "generated", "table@2"),
        ("02", "used", "table@2"),
        ("02", "generated", "table@3"),
    }


async def test_an_event_may_name_a_dataset_twice_and_many_for_the_first_time(taking: Receiver) -> None:
    many = [f"raw{number}.nc" for number in range(120)]

    await taking.take(run_event(1, "COMPLETE", ["table", "table", *many], ["table", "table"]))

    assert await taking.edges() == {
        ("01", "generated", "table@2"),
        *(("01", "used", f"{name}@1") for name in ("table", *many)),
    }


async def test_an_input_stays_bound_to_what_was_the_latest_revision(taking: Receiver) -> None:
    await taking.take(
        run_event(1, "COMPLETE", [], ["rad.nc"]),
        run_event(2, "START", ["rad.nc"]),
        run_event(3, "COMPLETE", [], ["rad.nc"]),
        run_event(2, "COMPLETE", ["rad.nc"], ["map.nc"]),
    )

    assert {edge for edge in await taking.edges() if edge[0] == "02"} == {
        ("02", "used", "rad.nc@1"),
        ("02", "generated", "map.nc@1"),
    }


async def test_a_version_of_a_dataset_is_one_revision_whoever_names_it_first(taking: Receiver) -> None:
    await taking.take(
        run_event(2, "COMPLETE", [dataset("rad.nc", "v1")], ["map.nc"]),
        run_event(1, "COMPLETE", [], [dataset("rad.nc", "v1")]),
        run_event(3, "COMPLETE", [], [dataset("rad.nc", "v2")]),
        run_event(4, "COMPLETE", [dataset("rad.nc", "v1")], []),
        run_event(5, "COMPLETE", [dataset("rad.nc", "v2")], []),
    )

    assert await taking.edges() == {
        ("02", "used", "rad.nc@1"),
        ("02", "generated", "map.nc@1"),
        ("01", "generated", "rad.nc@1"),
        ("03", "generated", "rad.nc@2"),
        ("04", "used", "rad.nc@1"),
        ("05", "used", "rad.nc@2"),
    }


async def test_a_version_that_is_given_again_names_the_latest_revision(taking: Receiver) -> None:
    for number in (1, 2):
        await taking.take(run_event(number, "COMPLETE", [], [dataset("rad.nc", "1.0")]))
    await taking.take(run_event(3, "COMPLETE", [dataset("rad.nc", "1.0")]))

    assert ("03", "used", "rad.nc@2") in await taking.edges()
    versions = [dataset_version(revision) for revision in (await taking.revisions()).values()]
    assert versions == [run_id(1), "1.0"]


async def test_a_run_may_use_several_versions_of_a_dataset(taking: Receiver) -> None:
    inputs = [dataset("rad.nc", version) for version in ("v1", "v2", "v3")]

    await taking.take(run_event(1, "COMPLETE", inputs, ["map.nc"]))

    used = {edge for edge in await taking.edges() if edge[1] == "used"}
    assert used == {("01", "used", f"rad.nc@{number}") for number in (1, 2, 3)}


async def test_a_version_names_a_registered_file_that_has_none(taking: Receiver) -> None:
    registration = Registration(taking.database, HeldClock())
    await registration.register([NewFile(name="rad.nc", level="L1B", checksum="0" * 32)])

    await taking.take(run_event(1, "COMPLETE", [dataset("rad.nc", "etag-1", namespace="quakegraph")]))

    assert await taking.edges() == {("01", "used", "rad.nc@1")}
    (revision,) = (await taking.revisions()).values()
    assert (revision.dataset_version, revision.level, revision.checksum) == ("etag-1", "L1B", "0" * 32)


async def test_a_revision_that_went_out_by_its_number_comes_in_by_it(taking: Receiver) -> None:
    registration = Registration(taking.database, HeldClock())
    for digit in "012":
        await registration.register([NewFile(name="rad.nc", checksum=digit * 32)])

    await taking.take(run_event(1, "COMPLETE", [dataset("rad.nc", "quakegraph:2", namespace="quakegraph")]))

    assert await taking.edges() == {("01", "used", "rad.nc@2")}


async def test_datasets_of_the_same_name_in_two_namespaces_are_two_files(taking: Receiver) -> None:
    await taking.take(
        run_event(
            1, "COMPLETE", [dataset("t", namespace="a"), dataset("t", namespace="b"), dataset("t", namespace="c#")]
        )
    )

    assert {edge[2] for edge in await taking.edges()} == {"a#t@1", "b#t@1", "c%23#t@1"}


async def test_a_cycle_is_refused_and_changes_nothing(taking: Receiver) -> None:
    await taking.take(
        run_event(1, "COMPLETE", [dataset("a", "1")], [dataset("b", "1")]),
        run_event(2, "COMPLETE", [dataset("b", "1")], [dataset("c", "1")]),
    )
    before = await taking.edges()

    with pytest.raises(ProvenanceCycle):
        await taking.take(run_event(3, "COMPLETE", [dataset("c", "1"), dataset("new", "1")], [dataset("a", "1")]))

    assert await taking.edges() == before
    assert run_id(3) not in await taking.runs.by_id([run_id(3)])
    assert await taking.intake._files.by_name(["s3://archive#new"]) == {}


async def test_a_dataset_event_registers_a_dataset_once(taking: Receiver) -> None:
    event = {key: run_event(1, "START")[key] for key in ("eventTime", "producer", "schemaURL")}

    for named in (dataset("rad.nc"), dataset("rad.nc"), dataset("rad.nc", "v1"), dataset("rad.nc", "v1")):
        await taking.take({**event, "dataset": named})

    files = await taking.intake._files.by_name(["s3://archive#rad.nc"])
    assert files["s3://archive#rad.nc"].version == Version("s3://archive#rad.nc", 1)


async def test_the_event_of_a_known_dataset_makes_no_revision(taking: Receiver) -> None:
    await taking.take(run_event(1, "COMPLETE", [], ["rad.nc"]))
    event = {key: run_event(1, "START")[key] for key in ("eventTime", "producer", "schemaURL")}

    await taking.take({**event, "dataset": dataset("rad.nc")})

    assert [version.revision for version in await taking.revisions()] == [1]


async def test_a_job_event_is_checked_and_stores_nothing(taking: Receiver) -> None:
    event = run_event(1, "START", ["raw.nc"], ["rad.nc"])
    del event["run"], event["eventType"]

    await taking.take(event)

    assert await taking.edges() == set()
    assert await taking.intake._files.by_name(["s3://archive#raw.nc"]) == {}


async def test_what_is_told_of_a_run_beside_its_files_is_kept(taking: Receiver) -> None:
    facets = {
        "nominalTime": {"nominalStartTime": "2024-01-01T03:00:00+03:00", "_producer": "x", "unknown": 1},
        "parent": {"run": {"runId": run_id(9)}, "job": {"namespace": "airflow", "name": "daily"}},
        "processing_engine": {"version": "2.10", "name": "Airflow"},
        "my_facet": {"anything": ["goes"]},
    }

    await taking.take(run_event(1, "START") | {"run": {"runId": run_id(1), "facets": facets}})

    (run,) = await taking.all_runs()
    assert run.facets == {
        "nominalTime": {"nominalStartTime": "2024-01-01T00:00:00+00:00"},
        "parent": {"run": {"runId": run_id(9)}, "job": {"namespace": "airflow", "name": "daily"}},
        "processing_engine": {"version": "2.10", "name": "Airflow"},
    }


EVENTS = (
    run_event(1, "START", ["raw.nc", dataset("cal.nc", "7")], ["rad.nc"]),
    run_event(1, "RUNNING", [], ["log.txt"]),
    run_event(1, "COMPLETE", ["raw.nc"], [dataset("map.nc", "v3")]),
    run_event(1, "OTHER", [], ["late.nc"]),
)


async def _outcome(events: Any) -> Any:
    async with empty_receiver("sqlite") as taking:
        await taking.take(*events)
        (run,) = await taking.all_runs()
        return await taking.edges(), run.state, run.started_at, run.ended_at, run.algorithm


async def test_events_give_the_same_in_any_order() -> None:
    expected = await _outcome(EVENTS)
    assert len(expected[0]) == 6

    for order in permutations(EVENTS):
        assert await _outcome(order) == expected


@given(st.lists(st.sampled_from(EVENTS), max_size=6))
def test_an_event_that_comes_again_changes_nothing(again: list[Any]) -> None:
    assert asyncio.run(_outcome([*EVENTS, *again])) == asyncio.run(_outcome(EVENTS))


async def test_events_that_come_to_several_processes_at_once_are_counted_once(engine: str) -> None:
    async with empty_receiver(engine) as taking:
        others = [receiver(taking.database, HeldClock()) for _ in range(3)]

        await asyncio.gather(*(other.take(event) for other in others for event in EVENTS))

        assert await taking.edges() == (await _outcome(EVENTS))[0]
        assert {version.revision for version in await taking.revisions()} == {1}


async def test_runs_of_many_processes_make_different_revisions(engine: str) -> None:
    async with empty_receiver(engine) as taking:
        others = [receiver(taking.database, HeldClock()) for _ in range(3)]

        await asyncio.gather(
            *(others[number % 3].take(run_event(number, "COMPLETE", ["raw.nc"], ["rad.nc"])) for number in range(6))
        )

        edges = await taking.edges()
        assert {edge[2] for edge in edges if edge[1] == "used"} == {"raw.nc@1"}
        assert {edge[2] for edge in edges if edge[1] == "generated"} == {f"rad.nc@{number}" for number in range(1, 7)}
