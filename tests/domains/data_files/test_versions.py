"""The order of versions is that of PEP 440, by which `packaging` judges, and any text has a place in it."""

from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from graph.domains.data_files.versions import major_of, order_of

numbers = st.lists(st.sampled_from([0, 1, 9, 10, 10**20]), min_size=1, max_size=4)
versions = st.text("0129.rabc-V+", max_size=12)


def part(words: str) -> st.SearchStrategy[str]:
    """A part of a version, in its spellings: a word with a number or without one; or nothing."""
    number = st.sampled_from(["", "0", "1", "9", "10"])
    spelt = st.tuples(st.sampled_from(["", ".", "_", "-"]), st.sampled_from(words.split()), number)
    return st.just("") | spelt.map("".join)


public = st.tuples(
    st.sampled_from(["", "", "v", "0!", "1!", "V12!"]),
    numbers.map(lambda some: ".".join(map(str, some))),
    part("a alpha b beta c rc RC pre preview"),
    part("post rev r POST"),
    part("dev"),
    st.sampled_from(["", "", "+5", "+abc", "+abc.5", "+5-abc", "+x86_64"]),
).map("".join)


@given(some=st.lists(public, min_size=2, max_size=8))
def test_versions_are_in_the_order_of_pep_440(some: list[str]) -> None:
    for a in some:
        for b in some:
            first, second = Version(a), Version(b)
            assert (order_of(a) < order_of(b)) == (first < second), (a, b)
            assert (order_of(a) == order_of(b)) == (first == second), (a, b)
            assert (major_of(a) == major_of(b)) == ((first.epoch, first.major) == (second.epoch, second.major)), (a, b)


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
        ["1.0", "1.0-1", "1.0.1"],  # a post-release without its word
        ["1.2.dev1", "1.2a1", "1.2b2.dev3", "1.2b2", "1.2rc9", "1.2rc10", "1.2", "1.2+abc", "1.2+5", "1.2.post1.dev2"],
        ["1.2+5", "1.2.post1.dev2", "1.2.post1", "1.2.post1+a", "1.2.1", "2024.1", "1!0.1"],
        ["R2022b", "R2023a", "R2023b"],  # no versions of PEP 440
        ["0", "0.1", "1"],
    ):
        orders = [order_of(version) for version in ascending]
        assert orders == sorted(set(orders))
    # Zeros before a number and behind all do not count, nor does a `v`.
    assert order_of("1.02.0") == order_of("1.2.0") == order_of("v1.2") == order_of("1.2")
    for spellings in ("1.2rc9 1.2c9 1.2-pre.9 V1.2_preview9", "1.2.post1 1.2-1 1.2r1 1.2-rev.1", "1.2a0 1.2alpha"):
        assert len(set(map(order_of, spellings.split()))) == 1
