"""What arguments of the type `ID` take, wherever they stand: the global id and the record's own id alike."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from graphql import GraphQLInputObjectType, get_named_type

from graph.api.relay import global_id
from tests.contracts.connections import NODES
from tests.contracts.documents import document, value_with
from tests.contracts.filled import Filled
from tests.schemas import schema

OTHERS = {
    *("Query.node.id", "Query.nodes.ids"),  # global ids alone, since they say of which type they are
    "Mutation.ingestEvents.input.events.eventId",  # a wrong id rejects its event alone
    "Mutation.writeServiceLogs.input.logs.logId",  # a new log's UUID, by which no log is found
}
"""Arguments that another test has."""


def paths(of: Any, path: str) -> Iterator[str]:
    """The paths of an argument's or an input field's type to each id in it."""
    named = get_named_type(of)
    if named.name == "ID":
        yield path
    elif isinstance(named, GraphQLInputObjectType):
        for name, field in named.fields.items():
            if name not in ("or", "not"):  # filters within filters
                yield from paths(field.type, f"{path}.{name}")


PATHS = {
    found
    for root in filter(None, (schema.query_type, schema.mutation_type))
    for name, field in root.fields.items()
    for argument, of in field.args.items()
    for found in paths(of.type, f"{root.name}.{name}.{argument}")
}


def body(filled: Filled, path: str, given: str) -> dict[str, Any]:
    """The answer to a field with this id."""
    root, name, argument, *below = path.split(".")
    of: Any = schema.type_map[root]
    return filled.answer(
        document(root, name, {argument: value_with(of.fields[name].args[argument].type, below, given)})
    )


@pytest.mark.parametrize("path", sorted(PATHS - OTHERS))
def test_an_id_is_taken_as_the_global_one_and_the_own_one_but_not_as_another_types(
    path: str, on_sqlite: Filled
) -> None:
    (error,) = body(on_sqlite, path, global_id("PageInfo", "x"))["errors"]
    own, of_type = path.rpartition(".")[2], r"`(\w+)` is an id of the type PageInfo: pass one of the type (\w+)\."
    found: Any = re.fullmatch(of_type, error["message"])
    assert (error["extensions"]["code"], found[1], found[2] in NODES) == ("BAD_USER_INPUT", own, True)

    by_global = global_id(found[2], "x")
    assert repr(body(on_sqlite, path, by_global)).replace(by_global, "x") == repr(body(on_sqlite, path, "x"))


@pytest.mark.parametrize("path", sorted(PATHS))
def test_a_text_that_can_be_no_id_finds_nothing_or_is_refused(path: str, on_sqlite: Filled) -> None:
    for text in ("", "\n\0", "é", "x#y", "x" * 10_000):
        errors: Sequence[Any] = body(on_sqlite, path, text).get("errors", ())
        assert {error["extensions"]["code"] for error in errors} <= {"BAD_USER_INPUT", "NOT_FOUND"}
