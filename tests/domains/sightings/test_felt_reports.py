"""What reports add to the stored answers."""

from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.sightings.entities import FELT_REPORTS
from graph.domains.sightings.felt_reports import FeltReport, added, felt_report
from graph.domains.sightings.grid import KM1, KM1000
from graph.store.entity import Key
from tests.domains.earthquakes.builders import at

NOW = at("2026-06-25T14:30:59") // 1000

answers = st.dictionaries(
    st.sampled_from(["felt", "motion", "shelf", "damage"]), st.sampled_from([0, 0.36, 0.5, 0.75, 1]), min_size=1
)
few_reports = st.lists(
    st.builds(
        FeltReport,
        answers,
        cell=st.sampled_from(["km1:13960:11050", "km1:13960:11051", "km1:0:0"]),
        minute=st.sampled_from(["2026-06-25T14:59Z", "2026-06-25T15:00Z"]),
        event_id=st.sampled_from([None, "us1", "us2"]),
    ),
    max_size=20,
)


def sums(batches: Iterable[list[FeltReport]]) -> dict[Key, Counter[str]]:
    """All that batches of reports add, by item."""
    found: dict[Key, Counter[str]] = {}
    for batch in batches:
        for update in added(batch):
            found.setdefault(update.key, Counter()).update(update.add)
    return found


def test_a_report_is_stored_by_the_earthquake_that_it_names() -> None:
    (update,) = added([felt_report({"felt": 1, "damage": 0.75}, 35.6, -117.6, NOW, "us7000abcd")])

    cell = KM1.cell(35.6, -117.6)
    assert update.key == FELT_REPORTS.key_for("event:us7000abcd", "2026-06-25T14:30Z", cell)
    assert update.add == {"reports": 1, "feltGiven": 1, "feltSum": 1000, "damageGiven": 1, "damageSum": 750}
    assert not update.set


def test_a_report_that_names_none_is_stored_by_region_and_hour() -> None:
    (update,) = added([felt_report({"felt": 0}, 35.6, -117.6, NOW)])
    assert felt_report({"felt": 0}, 35.6, -117.6, NOW) == felt_report({"felt": 0}, 35.601, -117.601, NOW)  # of its cell

    region = KM1000.cell(35.6, -117.6)
    assert update.key.values == (f"{region}:2026-06-25T14", "2026-06-25T14:30Z", KM1.cell(35.6, -117.6))


@given(few_reports)
def test_reports_of_one_batch_never_give_two_actions_on_one_item(reports: list[FeltReport]) -> None:
    keys = [update.key for update in added(reports)]

    assert len(set(keys)) == len(keys)
    assert sum(update.add["reports"] for update in added(reports)) == len(reports)


@given(few_reports.flatmap(lambda reports: st.tuples(st.just(reports), st.permutations(reports), st.integers(0, 20))))
def test_neither_the_order_nor_the_batches_of_reports_matter(
    batches: tuple[list[FeltReport], list[FeltReport], int],
) -> None:
    reports, reordered, cut = batches

    assert sums([reports]) == sums([reordered[:cut], reordered[cut:]]) == sums([each] for each in reports)
