"""Documents: from the text that a client sends to operations that can be executed.

A text is bounded before it is parsed, and what it parses to before anything else walks through
it, since validation takes far more steps than a document has nodes. What depends on the text
alone is found out once, and remembered while the text is among those used last.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from cachetools import LRUCache
from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    NoSchemaIntrospectionCustomRule,
    OperationDefinitionNode,
    OperationType,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    parse,
    specified_rules,
    validate,
    visit,
)

from graph.access.callers import Scope
from graph.access.requires import required_scope
from graph.errors import OperationResolutionFailure, QueryTooComplex
from graph.execution.coercion import Coercions
from graph.execution.executor import Plan
from graph.operations.cost import Pricing
from graph.operations.shape import Limits, check_shape
from graph.paging import PageSizes

REMEMBERED_CHARACTERS = 2**17  # of text; parsed, a document takes some 150 times as many bytes
GIVEN_UP = " Parsing aborted."  # ends the parser's message where there were too many tokens or levels of nesting
MOST_ERRORS = 20  # of a document; more would tell nobody anything


class InvalidDocument(Exception):
    """The text is no document, or none of this schema, or its variables are not what it declares."""

    def __init__(self, errors: list[GraphQLError], code: str) -> None:
        super().__init__(f"{len(errors)} errors in the document")
        self.errors = errors
        self.code = code


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a valid document."""

    plan: Plan  # of its execution
    name: str | None
    type: OperationType
    scopes: frozenset[Scope]  # that its caller must have
    points: Callable[[Mapping[str, Any]], int]  # what it costs with these variables


class Document:
    """A valid document."""

    def __init__(self, characters: int, operations: Iterable[Operation]) -> None:
        self.characters = characters  # of its text
        self._operations = {operation.name: operation for operation in operations}

    def operation(self, name: str | None) -> Operation:
        """The operation of that name, or the only one.

        Raises:
            OperationResolutionFailure: There is none of that name, or no name, and several are there.
        """
        if name is None and len(self._operations) == 1:
            return next(iter(self._operations.values()))
        if name is None or name not in self._operations:
            raise OperationResolutionFailure
        return self._operations[name]


class Documents:
    """The documents of one schema."""

    def __init__(self, schema: GraphQLSchema, limits: Limits, page_sizes: PageSizes, *, introspection: bool) -> None:
        self._schema = schema
        self._coercions = Coercions()
        self._limits = limits
        self._pricing = Pricing(schema, page_sizes)
        self._suggesting = introspection  # what may not be asked for is not given away by a suggestion either
        self._rules = specified_rules if introspection else (*specified_rules, NoSchemaIntrospectionCustomRule)
        self._remembered: LRUCache[str, Document] = LRUCache(REMEMBERED_CHARACTERS, getsizeof=attrgetter("characters"))

    def of(self, text: str) -> Document:
        """The document that the text is.

        Raises:
            InvalidDocument: It cannot be parsed, or does not fit the schema.
            QueryTooComplex: It is larger or deeper than a document may be.
        """
        document = self._remembered.get(text)
        if document is None:
            document = self._prepared(text)
            if document.characters <= self._remembered.maxsize:
                self._remembered[text] = document
        return document

    def _valid(self, text: str) -> DocumentNode:
        self._limits.check_text(text)
        try:
            document = parse(text, max_tokens=self._limits.tokens)
        except GraphQLSyntaxError as error:
            if error.message.endswith(GIVEN_UP):
                raise QueryTooComplex(error.message.removeprefix("Syntax Error: ").removesuffix(GIVEN_UP)) from error
            raise InvalidDocument([error], "GRAPHQL_PARSE_FAILED") from error
        check_shape(document, self._limits)
        errors = validate(
            self._schema, document, self._rules, max_errors=MOST_ERRORS, hide_suggestions=not self._suggesting
        )
        if errors:
            raise InvalidDocument(errors, "GRAPHQL_VALIDATION_FAILED")
        return document

    def _prepared(self, text: str) -> Document:
        document = self._valid(text)
        fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
        operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
        return Document(
            len(text),
            (
                Operation(
                    Plan(self._schema, self._coercions, document, operation),
                    operation.name.value if operation.name else None,
                    operation.operation,
                    required_scopes(self._schema, operation, fragments),
                    self._pricing.price(operation, fragments),
                )
                for operation in operations
            ),
        )


def required_scopes(
    schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]
) -> frozenset[Scope]:
    """The scopes that the fields of a valid operation need, its fragments' fields included."""
    types = TypeInfo(schema)
    scopes: set[Scope] = set()
    spread: dict[str, FragmentDefinitionNode] = {}
    to_visit: list[OperationDefinitionNode | FragmentDefinitionNode] = [operation]

    class Reader(Visitor):
        def enter_field(self, *_: FieldNode) -> None:
            definition = types.get_field_def()
            if definition and (scope := required_scope(definition)):
                scopes.add(scope)

        def enter_fragment_spread(self, node: FragmentSpreadNode, *_: object) -> None:
            name = node.name.value
            if name not in spread:
                spread[name] = fragments[name]
                to_visit.append(fragments[name])

    for node in to_visit:  # which grows as spreads are met
        visit(node, TypeInfoVisitor(types, Reader()))
    return frozenset(scopes)
