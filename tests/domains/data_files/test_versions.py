"""The order of versions is that of their numbers, and a candidate is before its release."""

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.data_files.versions import major_of, order_of

numbers = st.lists(st.integers(0, 10**20), min_size=1, max_size=5)
versions = st.text("0129.rabc-V+", max_size=12)


def written(parts: list[int]) -> str:
    return ".".join(map(str, parts))


@given(a=numbers, b=numbers)
def test_versions_of_numbers_are_in_the_order_of_these_numbers(a: list[int], b: list[int]) -> None:
    assert (order_of(written(a)) < order_of(written(b))) == (a < b)
    assert (order_of(written(a)) == order_of(written(b))) == (a == b)
    assert order_of(written(b)).startswith(major_of(written(a))) == (a[0] == b[0])


@given(release=numbers, candidate=st.integers(0, 99), word=st.sampled_from(["rc", "RC", "-rc.", "a", "beta"]))
def test_what_has_a_word_behind_it_is_before_the_release_and_behind_all_before(
    release: list[int], candidate: int, word: str
) -> None:
    before = order_of(f"{written(release)}{word}{candidate}")
    assert before < order_of(written(release))
    assert before < order_of(f"{written(release)}{word}{candidate + 1}")
    if release[-1]:
        assert before > order_of(written([*release[:-1], release[-1] - 1]))


@given(some=st.lists(versions, min_size=2, max_size=6))
def test_the_order_depends_on_the_versions_alone_whatever_stands_behind_them(some: list[str]) -> None:
    """The index has a file's name behind a version's order."""
    for a in some:
        for b in some:
            if order_of(a) < order_of(b):
                assert f"{order_of(a)} z" < f"{order_of(b)} a"


def test_known_versions_are_in_their_order() -> None:
    for ascending in (
        ["1.9.0", "1.10.0"],
        ["1.0.0a1", "1.0.0b1", "1.0.0rc1", "1.0.0rc2", "1.0.0rc10", "1.0.0", "1.0.0.1", "1.0.1"],
        ["V1-2-3RC1", "V1-2-3", "V1-2-10"],  # as in names of Libera's files
        ["0", "0.0", "0.1", "1"],
    ):
        orders = [order_of(version) for version in ascending]
        assert orders == sorted(set(orders))
    assert order_of("1.02.0") == order_of("1.2.0")  # zeros before a number do not count
