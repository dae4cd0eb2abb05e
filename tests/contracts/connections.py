"""The connections of the schema, and how a page of each is asked for.

case = CASES["Event.revisions"]
List.of(case, filled).page(first=2, after=cursor)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import orjson
from graphql import GraphQLEnumType, GraphQLField, GraphQLObjectType, get_named_type, is_leaf_type, is_required_argument

from tests.contracts.filled import ANNA, MANY, Filled
from tests.schemas import schema

PAGING = ("first", "after", "last", "before")
PAGE_INFO = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"


def objects() -> Iterator[GraphQLObjectType]:
    """The object types of the schema."""
    for name, of in schema.type_map.items():
        if isinstance(of, GraphQLObjectType) and not name.startswith("__"):
            yield of


NODES = {of.name for of in objects() if schema.type_map["Node"] in of.interfaces}


def literal(value: Any) -> str:
    """A value as GraphQL writes it; an enumeration's is a `Word`."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {literal(each)}' for name, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return value if isinstance(value, Word) else orjson.dumps(value).decode()


class Word(str):
    """A value of an enumeration."""


@dataclass(frozen=True)
class Case:
    """A connection in one of its orders."""

    parent: str
    name: str
    field: GraphQLField
    order: Mapping[str, Word]  # the arguments that choose the order

    @property
    def path(self) -> str:
        """Its type and name, such as `Event.revisions`."""
        return f"{self.parent}.{self.name}"

    @property
    def key(self) -> str:
        """Its path and the words of its order."""
        return "-".join([self.path, *self.order.values()])

    def refuses(self, other: "Case") -> bool:
        """Whether a cursor of another connection must be none of this one: its nodes or their order are different.

        An event has one position in the present catalogue and in that of another time.
        """
        one, two = ({word.partition("_")[0] for word in case.order.values()} for case in (self, other))
        shared = {*self.node.interfaces} & {*other.node.interfaces} - {schema.type_map["Node"]}
        return not (self.node is other.node or shared) or bool(one and two and one != two)

    @property
    def node(self) -> GraphQLObjectType:
        """The type of its nodes."""
        connection: Any = get_named_type(self.field.type)
        node: GraphQLObjectType = get_named_type(connection.fields["nodes"].type)
        return node

    @property
    def selection(self) -> str:
        """What a page is asked for: its nodes by all that identifies them."""
        leaves = [name for name, each in self.node.fields.items() if is_leaf_type(get_named_type(each.type))]
        node = "id" if self.node.name in NODES else " ".join(leaves)
        return f"{{ edges {{ cursor node {{ {node} }} }} nodes {{ {node} }} {PAGE_INFO} totalCount totalCountReason }}"

    def field_with(self, arguments: Mapping[str, Any]) -> str:
        """The field with further arguments; those of the page are variables."""
        given = [f"{name}: {literal(value)}" for name, value in {**arguments, **self.order}.items()]
        return f"{self.name}({', '.join([*given, *(f'{name}: ${name}' for name in PAGING)])}) {self.selection}"


def _cases() -> Iterator[Case]:
    for of in objects():
        for name, field in of.fields.items():
            if get_named_type(field.type).name.endswith("Connection"):
                orders = {
                    argument: [Word(each) for each in get_named_type(of_argument.type).values]
                    for argument, of_argument in field.args.items()
                    if isinstance(get_named_type(of_argument.type), GraphQLEnumType)
                    and get_named_type(of_argument.type).name.endswith("Order")
                }
                for values in product(*orders.values()):
                    yield Case(of.name, name, field, dict(zip(orders, values, strict=True)))


CASES = {case.key: case for case in _cases()}
ROOTS = [name for name, case in CASES.items() if case.parent == "Query"]


@dataclass(frozen=True)
class List:
    """A connection of one object of a filled service: that with the most nodes."""

    case: Case
    filled: Filled
    document: str
    path: tuple[str | int, ...]  # of the connection in the answer
    parent_id: str | None = None

    @classmethod
    def of(cls, case: Case, filled: Filled) -> "List":
        """The connection of an object in the store that has enough nodes to be paged through."""
        if case.key not in filled.lists:
            all_of_them = (each for each in cls._all(case, filled) if len(each.page(first=MANY)["nodes"]) == MANY)
            found = next(all_of_them, None)
            assert found, f"no {case.path} has {MANY} nodes: store some in `filled.py`"
            filled.lists[case.key] = found
        of: List = filled.lists[case.key]
        return of

    @classmethod
    def _all(cls, case: Case, filled: Filled) -> Iterator["List"]:
        inner = case.field_with(filled.arguments.get(case.path, {}))
        head = "$first: Int, $after: String, $last: Int, $before: String"
        if case.parent == "Query":
            yield cls(case, filled, f"query ({head}) {{ {inner} }}", (case.name,))
        elif case.parent in NODES:
            document = f"query ({head}, $id: ID!) {{ node(id: $id) {{ ... on {case.parent} {{ {inner} }} }} }}"
            for node_id in ids_of(case.parent, filled):
                yield cls(case, filled, document, ("node", case.name), node_id)
        else:
            root, nodes = _root_of(case.parent)
            document = f"query ({head}) {{ {root} {{ {f'nodes {{ {inner} }}' if nodes else inner} }} }}"
            found = filled.ask(f"{{ {root} {{ {'nodes { __typename }' if nodes else '__typename'} }} }}")
            objects: Any = found["nodes"] if nodes else found
            between = [root, "nodes"] if nodes else [root]
            for at in range(len(objects)) if isinstance(objects, list) else [None]:
                yield cls(case, filled, document, (*between, *([] if at is None else [at]), case.name))

    def body(self, user_id: str = ANNA, **paging: Any) -> dict[str, Any]:
        """The answer to a page."""
        return self.filled.answer(self.document, {**paging, "id": self.parent_id}, user_id)

    def page(self, **paging: Any) -> Any:
        """A page. Its nodes are those of its edges, its cursors those of its ends, and a missing total has a reason."""
        body = self.body(**paging)
        assert "errors" not in body, body
        page = body["data"]
        for part in self.path:
            page = page[part]
        edges, info = page["edges"], page["pageInfo"]
        assert page["nodes"] == [edge["node"] for edge in edges]
        ends = [edges[0]["cursor"], edges[-1]["cursor"]] if edges else [None, None]
        assert [info["startCursor"], info["endCursor"]] == ends
        assert (page["totalCount"] is None) == bool(page["totalCountReason"])
        return page

    def codes(self, **paging: Any) -> list[str]:
        """The codes of the errors that a page is refused with."""
        body = self.body(**paging)
        return [error["extensions"]["code"] for error in body.get("errors", ())]

    @cached_property
    def cursors(self) -> list[str]:
        """The cursors of its first nodes, as text."""
        return [edge["cursor"] for edge in self.page(first=MANY)["edges"]]


def ids_of(node: str, filled: Filled) -> list[str]:
    """The ids of all nodes of a type, as a list has them that is at hand."""
    cases = [case for case in CASES.values() if case.node.name == node and case.parent != node]
    case = min(cases, key=lambda each: each.parent != "Query")
    return [edge["id"] for edge in List.of(case, filled).page(first=100)["nodes"]]


def _root_of(parent: str) -> tuple[str, bool]:
    """A root field that answers objects of a type, and whether it is a connection of them."""
    assert schema.query_type
    for name, field in schema.query_type.fields.items():
        of: Any = get_named_type(field.type)
        is_connection = of.name == f"{parent}Connection"
        if (of.name == parent or is_connection) and not any(map(is_required_argument, field.args.values())):
            return name, is_connection
    raise AssertionError(f"no root field answers {parent}: say how one is found")
