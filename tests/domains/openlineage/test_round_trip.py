"""What goes out as events of OpenLineage comes in again, into another store, as the same lineage."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.data_files.datasets import dataset_version
from graph.domains.provenance_exports.open_lineage import run_events
from tests.domains.openlineage.builders import Receiver, dataset, receiving, run_event

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
