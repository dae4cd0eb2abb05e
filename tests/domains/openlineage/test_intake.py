"""Events become runs with their edges, the same whatever their order and however often they come.

What goes out as events of OpenLineage comes in again, into another store, as the same lineage.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.data_files.datasets import dataset_version
from graph.domains.data_files.errors import ProvenanceCycle
from graph.domains.data_files.model import RunState
from graph.domains.data_files.new_files import NewFile
from graph.domains.data_files.references import Version
from graph.domains.provenance_exports.open_lineage import run_events
from tests.domains.data_files.whole import assert_whole
from tests.domains.openlineage.builders import Receiver, dataset, receiving, run_event, run_id


@pytest.fixture
async def taking() -> AsyncIterator[Receiver]:
    async with receiving("sqlite") as taking:
        yield taking


async def test_a_run_uses_its_inputs_and_generates_its_outputs_when_it_completes(engine: str) -> None:
    async with receiving(engine) as taking:
        await taking.take(run_event(1, "START", inputs=["raw.nc"], outputs=["rad.nc"]))
        assert await taking.edges() == {"1 used raw.nc@1"}
        await taking.take(run_event(1, "COMPLETE"))

        assert await taking.edges() == {"1 used raw.nc@1", "1 generated rad.nc@1"}
        (run,) = await taking.all_runs()
        assert (run.algorithm, run.namespace) == ("calibrate", "airflow")
        assert (run.producer, run.state) == ("https://example.org/scheduler/1.0", RunState.COMPLETE)
        assert run.started_at is not None
        assert run.ended_at is not None
        assert (run.started_at.hour, run.ended_at.hour) == (0, 3)


RAD1, RAD2, RAD3 = (dataset("rad.nc", f"v{number}") for number in (1, 2, 3))
MANY = [f"raw{number}.nc" for number in range(120)]
HISTORIES: dict[str, tuple[list[Any], set[str]]] = {
    "a run that fails or is aborted generates nothing": (
        [run_event(number, end, ["raw.nc"], ["rad.nc"]) for number, end in ((1, "FAIL"), (2, "ABORT"))],
        {"1 used raw.nc@1", "2 used raw.nc@1"},
    ),
    "each run makes a new revision of what it generates": (
        [run_event(number, "COMPLETE", ["raw.nc"], ["rad.nc"]) for number in (1, 2)],
        {"1 used raw.nc@1", "1 generated rad.nc@1", "2 used raw.nc@1", "2 generated rad.nc@2"},
    ),
    "a run may use what it generates anew": (
        [run_event(number, "COMPLETE", ["table"], ["table"]) for number in (1, 2)],
        {"1 used table@1", "1 generated table@2", "2 used table@2", "2 generated table@3"},
    ),
    "an event may name a dataset twice, and many for the first time": (
        [run_event(1, "COMPLETE", ["table", "table", *MANY], ["table", "table"])],
        {"1 generated table@2", *(f"1 used {name}@1" for name in ("table", *MANY))},
    ),
    "an input stays bound to what was the latest revision": (
        [
            run_event(1, "COMPLETE", [], ["rad.nc"]),
            run_event(2, "START", ["rad.nc"]),
            run_event(3, "COMPLETE", [], ["rad.nc"]),
            run_event(2, "COMPLETE", ["rad.nc"], ["map.nc"]),
        ],
        {"1 generated rad.nc@1", "3 generated rad.nc@2", "2 used rad.nc@1", "2 generated map.nc@1"},
    ),
    "a version of a dataset is one revision, whoever names it first": (
        [
            run_event(2, "COMPLETE", [RAD1], ["map.nc"]),
            run_event(1, "COMPLETE", [], [RAD1]),
            run_event(3, "COMPLETE", [], [RAD2]),
            run_event(4, "COMPLETE", [RAD1], []),
            run_event(5, "COMPLETE", [RAD2], []),
        ],
        {
            *("2 used rad.nc@1", "2 generated map.nc@1", "1 generated rad.nc@1", "3 generated rad.nc@2"),
            *("4 used rad.nc@1", "5 used rad.nc@2"),
        },
    ),
    "a version that is given again names the latest revision": (
        [*(run_event(number, "COMPLETE", [], [RAD1]) for number in (1, 2)), run_event(3, "COMPLETE", [RAD1])],
        {"1 generated rad.nc@1", "2 generated rad.nc@2", "3 used rad.nc@2"},
    ),
    "a run may use several versions of a dataset": (
        [run_event(1, "COMPLETE", [RAD1, RAD2, RAD3], ["map.nc"])],
        {"1 generated map.nc@1", *(f"1 used rad.nc@{number}" for number in (1, 2, 3))},
    ),
    "datasets of the same name in several namespaces are several files": (
        [run_event(1, "COMPLETE", [dataset("t", namespace=namespace) for namespace in ("a", "b", "c#")])],
        {f"1 used {each}#t@1" for each in ("a", "b", "c%23")},
    ),
}


async def test_events_lead_to_the_edges_that_they_tell_of() -> None:
    for case, (events, edges) in HISTORIES.items():
        async with receiving("sqlite") as taking:
            await taking.take(*events)

            assert await taking.edges() == edges, case
            await assert_whole(taking)


async def test_a_version_that_two_revisions_have_goes_out_for_the_latest_alone(taking: Receiver) -> None:
    await taking.take(*(run_event(number, "COMPLETE", [], [RAD1]) for number in (1, 2)))

    versions = [dataset_version(revision) for revision in (await taking.revisions()).values()]
    assert sorted(versions) == [run_id(1), "v1"]


async def test_a_version_names_a_registered_file_that_has_none_and_a_number_its_revision(taking: Receiver) -> None:
    await taking.register(NewFile(name="rad.nc", level="L1B", checksum="0" * 32))
    for digit in "012":
        await taking.register(NewFile(name="map.nc", checksum=digit * 32))

    named = [dataset(*each, namespace="quakegraph") for each in (("rad.nc", "etag-1"), ("map.nc", "quakegraph:2"))]
    await taking.take(run_event(1, "COMPLETE", named))

    assert await taking.edges() == {"1 used rad.nc@1", "1 used map.nc@2"}
    revision = (await taking.revisions())[Version("rad.nc", 1)]
    assert (revision.dataset_version, revision.level, revision.checksum) == ("etag-1", "L1B", "0" * 32)


async def test_a_cycle_is_refused_and_changes_nothing(taking: Receiver) -> None:
    await taking.take(
        run_event(1, "COMPLETE", [dataset("a", "1")], [dataset("b", "1")]),
        run_event(2, "COMPLETE", [dataset("b", "1")], [dataset("c", "1")]),
    )
    before = await taking.everything()

    with pytest.raises(ProvenanceCycle):
        await taking.take(run_event(3, "COMPLETE", [dataset("c", "1"), dataset("new", "1")], [dataset("a", "1")]))

    assert await taking.everything() == before


async def test_the_event_of_a_dataset_registers_it_once_and_that_of_a_job_stores_nothing(taking: Receiver) -> None:
    job = run_event(1, "START", ["raw.nc"], ["rad.nc"])
    del job["run"], job["eventType"]
    await taking.take(job)
    assert await taking.everything() == []

    event = {key: job[key] for key in ("eventTime", "producer", "schemaURL")}
    for named in (dataset("rad.nc"), dataset("rad.nc"), RAD1, RAD1):
        await taking.take({**event, "dataset": named})
    await taking.take(run_event(1, "COMPLETE", [], ["map.nc"]), {**event, "dataset": dataset("map.nc")})

    assert sorted(version.reference for version in await taking.revisions()) == [
        "s3://archive#map.nc@1",
        "s3://archive#rad.nc@1",
    ]


async def test_what_is_told_of_a_run_beside_its_files_is_kept(taking: Receiver) -> None:
    unreadable = {"run": {"runId": "manual"}, "job": {"namespace": "airflow", "name": "daily"}}
    facets = {
        "nominalTime": {"nominalStartTime": "2024-01-01T03:00:00+03:00", "_producer": "x", "unknown": 1},
        "parent": {"run": {"runId": run_id(9)}, "job": unreadable["job"], "root": unreadable},
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


async def test_a_failure_whose_time_has_no_offset_ends_the_run_at_that_time_in_utc(taking: Receiver) -> None:
    """Airflow's provider 1.9 and old versions of dbt-ol write such times."""
    parent = {"run": {"runId": "manual__2024"}, "job": {"namespace": "airflow", "name": "daily"}}
    warnings = await taking.take(
        run_event(1, "START"),
        run_event(1, "FAIL", eventTime="2024-07-02T12:23:22.829392")
        | {"run": {"runId": run_id(1), "facets": {"parent": parent, "processing_engine": {"version": "2.10"}}}},
    )

    (run,) = await taking.all_runs()
    assert (run.state, run.ended_at) == (RunState.FAILED, datetime(2024, 7, 2, 12, 23, 22, 829392, UTC))
    assert run.facets == {"processing_engine": {"version": "2.10"}}
    assert [warning.partition("` ")[0] for warning in warnings] == [
        "`event.eventTime",
        "`event.run.facets.parent.run.runId",
    ]


async def test_a_run_has_the_end_of_the_events_that_give_its_state_in_any_order(taking: Receiver) -> None:
    told = [("START", 1), ("FAIL", 7), ("COMPLETE", 2), ("COMPLETE", 3), ("ABORT", 9)]
    for number, order in enumerate(permutations(told)):
        events = [run_event(number, type_, eventTime=f"2024-01-01T00:0{minute}:00Z") for type_, minute in order]
        await taking.take(events[:3], events[3:])
    found = [(run.state, run.ended_at) for run in await taking.all_runs()]
    assert found == [(RunState.COMPLETE, datetime(2024, 1, 1, 0, 3, tzinfo=UTC))] * 120


EVENTS = (
    run_event(1, "START", ["raw.nc", dataset("cal.nc", "7")], ["rad.nc"]),
    run_event(1, "RUNNING", [], ["log.txt"]),
    run_event(1, "COMPLETE", ["raw.nc"], [dataset("map.nc", "v3")]),
    run_event(1, "OTHER", [], ["late.nc"]),
)


async def _outcome(events: Any) -> Any:
    async with receiving("sqlite") as taking:
        await taking.take(*events)
        (run,) = await taking.all_runs()
        return await taking.edges(), run.state, run.started_at, run.ended_at, run.algorithm


async def test_events_give_the_same_in_any_order_and_however_often_they_come() -> None:
    expected = await _outcome(EVENTS)
    assert len(expected[0]) == 6

    for order in permutations(EVENTS):
        assert await _outcome([*order, *order[:2], *order[::-1]]) == expected


async def test_events_that_come_to_several_processes_at_once_are_counted_once(engine: str) -> None:
    async with receiving(engine) as taking:
        others = [Receiver(taking.database) for _ in range(3)]

        await asyncio.gather(*(other.take(event) for other in others for event in EVENTS))

        assert await taking.edges() == (await _outcome(EVENTS))[0]
        assert {version.revision for version in await taking.revisions()} == {1}


async def test_runs_of_many_processes_make_different_revisions(engine: str) -> None:
    async with receiving(engine) as taking:
        others = [Receiver(taking.database) for _ in range(3)]

        await asyncio.gather(
            *(others[number % 3].take(run_event(number, "COMPLETE", ["raw.nc"], ["rad.nc"])) for number in range(6))
        )

        edges = await taking.edges()
        assert {edge[2:] for edge in edges if "used" in edge} == {"used raw.nc@1"}
        assert {edge[2:] for edge in edges if "used" not in edge} == {f"generated rad.nc@{n}" for n in range(1, 7)}


datasets = st.builds(
    dataset,
    st.sampled_from(["raw", "rad", "map #1", "ü/%41"]),
    st.none() | st.sampled_from(["v1", "2"]),
    st.sampled_from(["s3://archive", "quakegraph", "a#b"]),
)
histories = st.lists(
    st.builds(
        lambda number, *rest: run_event(number, *rest),
        st.integers(0, 9),
        st.sampled_from(["START", "COMPLETE", "COMPLETE", "FAIL", "ABORT"]),
        st.lists(datasets, max_size=3),
        st.lists(datasets, max_size=2),
    ),
    min_size=1,
    max_size=8,
)


async def _exported(taking: Receiver) -> list[dict[str, Any]]:
    """The events of all runs."""
    revisions = await taking.revisions()
    return [event for run in await taking.all_runs() for event in run_events(run, revisions)]


async def _lineage(taking: Receiver) -> set[tuple[str, ...]]:
    """Its edges, with the versions that datasets have in OpenLineage."""
    revisions = await taking.revisions()
    return {
        (run.run_id, run.state.value, relation, version.name, dataset_version(revisions[version]))
        for run in await taking.all_runs()
        for relation, versions in (("used", run.used), ("generated", run.generated))
        for version in versions
    }


@given(histories, st.randoms(use_true_random=False))
def test_lineage_goes_out_and_comes_in_again(history: list[dict[str, Any]], random: Any) -> None:
    async def there_and_back() -> None:
        async with receiving("sqlite") as first, receiving("sqlite") as second:
            await first.take(history)  # a list, of which some may be refused for a cycle
            events = await _exported(first)
            random.shuffle(events)
            await second.take(*events)

            assert await _lineage(second) == await _lineage(first)
            assert sorted(map(str, await _exported(second))) == sorted(map(str, await _exported(first)))

    asyncio.run(there_and_back())
