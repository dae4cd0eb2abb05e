"""Whatever is selected of data files, compiled functions answer it as the execution does."""

from typing import Any

from graphql import GraphQLObjectType, get_named_type, is_composite_type, is_required_argument
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.app import schema_of
from graph.domains import DOMAINS
from graph.domains.data_files import DOMAIN
from tests.domains.data_files.schema.conftest import RUN_ID
from tests.domains.earthquakes.strategies import A_FEW
from tests.domains.triggers.schema.probes import selection
from tests.effort import rounds
from tests.schemas import schema
from tests.service import Service

WITHOUT = schema_of(tuple(domain for domain in DOMAINS if domain is not DOMAIN)).graphql
ROOTS = {
    "dataFile": '(name: "L0_CONS_file.PDS")',
    "dataFiles": '(first: 2, filter: {from: "2024-01-01", version: LATEST})',
    "calibrations": '(product: "L0", version: LATEST_MAJOR)',
    "run": f'(runId: "{RUN_ID}")',
    "affectedBy": '(calibration: "cal.nc", version: "1.0.0")',
}
"""Each root field that the domain adds, with its arguments."""

ARGUMENTS = {"DataFile.lineage": "(direction: BOTH, depth: 3)"}
"""Those of fields that need some."""


def selections(of: Any, depth: int) -> st.SearchStrategy[str]:
    """Some fields of a type, so many levels deep."""
    named = get_named_type(of)
    if not isinstance(named, GraphQLObjectType):
        return st.just("")
    fields: list[st.SearchStrategy[str]] = []
    for name, field in named.fields.items():
        arguments = ARGUMENTS.get(f"{named.name}.{name}", "(first: 2)" if "first" in field.args else "")
        assert arguments or not any(map(is_required_argument, field.args.values())), f"{named.name}.{name}"
        if not is_composite_type(get_named_type(field.type)):
            fields.append(st.just(f"{name}{arguments}"))
        elif depth > 1:
            inner = selections(field.type, depth - 1)
            fields.append(inner.map(lambda text, head=f"{name}{arguments}": f"{head} {text}"))  # type: ignore[misc]
    few = st.lists(st.one_of(fields), min_size=1, max_size=4, unique_by=_head)
    return few.map(lambda parts: f"{{ {' '.join(parts)} }}")


def _head(text: str) -> str:
    return text.partition("(")[0].partition(" ")[0]


def test_every_root_field_that_the_domain_adds_is_tried() -> None:
    assert schema.query_type is not None
    assert WITHOUT.query_type is not None
    assert schema.query_type.fields.keys() - WITHOUT.query_type.fields.keys() == ROOTS.keys()


@settings(A_FEW, max_examples=rounds(100))
@given(root=st.sampled_from(list(ROOTS)), data=st.data())
def test_compiled_functions_answer_as_the_execution_does(
    both: tuple[Service, Service], root: str, data: st.DataObject
) -> None:
    assert schema.query_type is not None
    text = data.draw(selections(schema.query_type.fields[root].type, 4))
    compiled, plain = (service.answer(f"{{ {root}{ROOTS[root]} {text} }}") for service in both)
    assert compiled == plain
    assert compiled.keys() == {"data"}
    assert compiled["data"][root]


def test_all_fields_together_are_answered_alike(both: tuple[Service, Service]) -> None:
    assert schema.query_type is not None
    for root, arguments in ROOTS.items():
        text = selection(schema.query_type.fields[root].type, 3)
        compiled, plain = (service.ask(f"{{ {root}{arguments} {text} }}") for service in both)
        assert compiled == plain, root
