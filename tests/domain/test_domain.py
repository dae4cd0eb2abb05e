"""The list of domains is checked, and those that are on are a list that holds by itself."""

import ast
from collections.abc import Iterator
from types import ModuleType

import pytest

from graph.core.services import Services
from graph.domain import Domain, exact_names, scopes_of, switched_on, tables_of
from graph.domains import DOMAINS
from graph.opening import settings_of
from graph.settings import Misconfigured
from tests.documents.markdown import ROOT
from tests.settings import Settings

A, B = Domain(name="a"), Domain(name="b", requires=("a",))
C = Domain(name="c", requires=("a", "b"))


def test_a_domain_comes_after_those_that_it_requires_and_otherwise_in_its_place() -> None:
    part = Domain(name="part", part_of="c")
    for given in ([A, B, C, part], [part, B, A, C], [C, part, B, A]):
        assert switched_on(given, ()) == (A, B, C, part)
    late = Domain(name="late")
    assert switched_on([late, B, A], ()) == (late, A, B)


def test_all_domains_are_on_unless_some_are_named_that_can_be() -> None:
    for names, on in (((), (A, B, C)), (("b", "a"), (A, B)), (("a",), (A,))):
        assert switched_on([A, B, C], names) == on
    for names, wrong in (
        (("d",), "there is no domain 'd'; these are: a, b, c"),
        (("a", "B"), "there is no domain 'B'; these are: a, b, c"),
        (("b",), "'b' requires 'a': name 'a' too, or leave out 'b'"),
        (("-b",), "'c' requires 'b': name 'b' too, or leave out 'c'"),
    ):
        with pytest.raises(Misconfigured) as caught:
            switched_on([A, B, C], names)
        assert str(caught.value) == f"GRAPH_DOMAINS: {wrong}"


def test_a_host_stands_for_its_parts_unless_some_are_named_or_left_out() -> None:
    host, of_one = Domain(name="host"), Domain(name="one", requires=("host",), part_of="host")
    of_both = Domain(name="two", requires=("host", "a"), part_of="host")
    for names, on in (
        (("host", "a"), (A, host, of_one, of_both)),
        (("host", "a", "-one"), (A, host, of_both)),
        (("host", "one"), (host, of_one)),
        (("host", "-two"), (host, of_one)),
        (("-two",), (A, host, of_one)),
        (("-host",), (A,)),
    ):
        assert switched_on([A, host, of_one, of_both], names) == on
        exact = exact_names([A, host, of_one, of_both], on)
        assert switched_on([A, host, of_one, of_both], exact) == on
    with pytest.raises(Misconfigured, match="'two' requires 'a': name 'a' too, or leave out 'two'"):
        switched_on([A, host, of_one, of_both], ("host",))


def test_the_domains_of_the_service_are_in_order() -> None:
    assert switched_on(DOMAINS, ()) == DOMAINS
    hosts = [domain for domain in DOMAINS if not domain.part_of]
    assert [domain.name for domain in hosts][:2] == ["earthquakes", "request_logs"]
    assert {"events:read", "events:write", "logs:read"} <= set(scopes_of(DOMAINS))
    assert [design.name for design in tables_of(hosts[:2])] == ["earthquake-events"]  # in which both stand


def imports_between_domains() -> Iterator[tuple[str, str]]:
    """Which domain imports which."""
    folder = ROOT / "graph/domains"
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{name}" for name in names]
            for name in names:
                if name.startswith("graph.domains.") and path.parent != folder:
                    yield path.relative_to(folder).parts[0], name.split(".")[2]


def test_a_domain_imports_only_those_that_it_requires() -> None:
    shared = "earthquake_events"  # a table's design, which is no domain and knows none
    requires = {domain.name: {domain.name, *domain.needs, shared} for domain in DOMAINS} | {shared: {shared}}

    found = {(importer, imported) for importer, imported in imports_between_domains()}

    assert ("area_watches", "triggers") in found  # so the imports were found
    assert {(importer, imported) for importer, imported in found if imported not in requires[importer]} == set()


def test_the_settings_of_the_tests_are_those_of_the_service() -> None:
    assert settings_of(DOMAINS).model_fields.keys() == Settings.model_fields.keys()
    assert settings_of(DOMAINS)().model_dump() == Settings().model_dump()


def test_settings_have_the_parts_of_the_domains_that_are_on(field_notes: ModuleType) -> None:
    settings = settings_of((*DOMAINS, field_notes.DOMAIN))()

    assert settings.part(field_notes.NoteSettings).field_note_count == 60
    with pytest.raises(TypeError, match="no NoteSettings"):
        Settings().part(field_notes.NoteSettings)


def test_a_service_is_the_only_one_of_its_class() -> None:
    services = Services([1, "a"])

    assert (services.of(int), services.of(str)) == (1, "a")
    with pytest.raises(LookupError, match="no domain that is switched on has opened a float"):
        services.of(float)
    with pytest.raises(ValueError, match="two services of the class str"):
        services.add("b")
