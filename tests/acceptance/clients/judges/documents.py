"""What the tools compile: each operation of the documents and of GraphiQL's examples, a list of each connection."""

from collections.abc import Iterator
from dataclasses import replace

from graphql import (
    EnumValueNode,
    GraphQLError,
    GraphQLField,
    GraphQLObjectType,
    GraphQLScalarType,
    NameNode,
    OperationDefinitionNode,
    StringValueNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    get_named_type,
    parse,
    print_ast,
    validate,
    visit,
)

from tests.contracts.connections import NODES, PAGING
from tests.documents.markdown import DOCUMENTS
from tests.pages.examples import EXAMPLES
from tests.schemas import schema


def operations() -> Iterator[tuple[str, str]]:
    """The name of each operation, as Relay wants it, and its text. A document of another schema is left out."""
    shown = [block.text for document in DOCUMENTS for block in document.blocks if block.language == "graphql"]
    for number, text in enumerate([*shown, *(example.query for example in EXAMPLES)], 1):
        try:
            parsed = parse(text)
        except GraphQLError:
            continue
        (operation, *others) = parsed.definitions
        if isinstance(operation, OperationDefinitionNode) and not others and not validate(schema, parsed):
            name = f"shown{number}{operation.operation.value.title()}"
            info = TypeInfo(schema)
            quoted = visit(operation, TypeInfoVisitor(info, _Quoted(info)))
            yield name, print_ast(replace(quoted, name=NameNode(value=name)))


class _Quoted(Visitor):
    """Writes words that are values of scalars in quotes. The graph takes them without, Relay does not."""

    def __init__(self, info: TypeInfo) -> None:
        super().__init__()
        self._info = info

    def enter_enum_value(self, node: EnumValueNode, *_: object) -> StringValueNode | None:
        of_scalar = isinstance(get_named_type(self._info.get_input_type()), GraphQLScalarType)
        return StringValueNode(value=node.value) if of_scalar else None


def lists() -> Iterator[tuple[str, str]]:
    """The module of each connection of a root or a node, and a fragment that loads its pages."""
    for parent in ("Query", *sorted(NODES)):
        of = schema.type_map[parent]
        assert isinstance(of, GraphQLObjectType)
        for name, field in of.fields.items():
            if get_named_type(field.type).name.endswith("Connection"):
                yield f"{parent}{name.title()}", _paginated(parent, name, field)


def _paginated(parent: str, name: str, field: GraphQLField) -> str:
    module = f"{parent}{name.title()}"
    others = {name: str(argument.type) for name, argument in field.args.items() if name not in PAGING}
    types = {"first": "Int", "after": str(field.args["after"].type), **others}
    defined = ", ".join(f'{name}: {{ type: "{type_}" }}' for name, type_ in types.items())
    given = ", ".join(f"{name}: ${name}" for name in types)
    refetchable = f'@refetchable(queryName: "{module}PaginationQuery")'
    connection = f'@connection(key: "{module}_{name}")'
    return (
        f"fragment {module}_list on {parent} @argumentDefinitions({defined}) {refetchable}"
        f" {{ {name}({given}) {connection} {{ edges {{ node {{ __typename }} }} }} }}"
    )
