"""Prepares documents: from a client's text to operations that can be executed.

The text is limited before it is parsed, and the parsed document before it is validated, since
validation takes far more steps than a document has nodes. Everything that depends only on the text is
computed once, for an operation at its first request, and remembered for the most recently used texts.
The memory for them is bounded: each document counts as the most that it may take, with the functions
that its plans compile later.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Literal

from cachetools import LRUCache
from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    NoSchemaIntrospectionCustomRule,
    OperationDefinitionNode,
)

from graph.api.documents.cost import MOST_FIELDS_VISITED, Pricing
from graph.api.documents.limits import check_shape, check_text
from graph.api.documents.parsing import parse_document
from graph.api.documents.validation import RULES, validation_errors
from graph.api.fast.coercion import Coercions
from graph.api.fast.plan import MOST_ERRORS, OperationPlan
from graph.api.feeds import FeedsOf, feeds_of
from graph.api.scopes import RequiredScopes, required_scopes
from graph.core.errors import OperationResolutionFailure
from graph.settings import Settings

# The memory that a document takes; each number is rounded up from the figure of `tracemalloc`.
REMEMBERED_BYTES = 2**25  # all documents together
DOCUMENT_BYTES = 2**12  # an empty document
OPERATION_BYTES = 2**11  # an operation without fields: its plan, scopes and price
NODE_BYTES = 2**8
FIELD_BYTES = 2**11 + 2**9  # a selected field: its price, and the function that completes it
MOST_VARIANTS = 4  # values of an operation's directives whose functions are kept: see `OperationPlan`


OperationType = Literal["query", "mutation", "subscription"]


class InvalidDocument(Exception):
    """The text is not a valid document of this schema, or the variables do not fit it."""

    status = 400

    def __init__(self, errors: list[GraphQLError], code: str) -> None:
        super().__init__(f"{len(errors)} errors in the document")
        self.errors = errors
        self.code = code


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a valid document."""

    plan: OperationPlan  # of its execution
    name: str | None
    type: OperationType
    scopes: RequiredScopes  # variables → the scopes that its caller must have
    points: Callable[[Mapping[str, Any]], int]  # variables → its cost
    least_limit: int  # points that it may cost at any limit
    feeds: FeedsOf  # variables → the feeds that its answer depends on, alone; None if they are not known


class Document:
    """A valid document."""

    def __init__(self, size: int, operations: Mapping[str | None, Callable[[], Operation]]) -> None:
        """Make a document.

        Args:
            size: the most bytes that it takes in memory, with all that is computed for it later.
            operations: functions that prepare the operations, by their names.
        """
        self.size = size
        self._unprepared = operations
        self._operations: dict[str | None, Operation] = {}

    def operation(self, name: str | None) -> Operation:
        """The operation with this name, or without a name the only one.

        Raises:
            OperationResolutionFailure: No operation has this name, or there is no name and several operations.
            QueryTooComplex: Its fragments name too many fields.
        """
        if name is None and len(self._unprepared) == 1:
            (name,) = self._unprepared
        operation = self._operations.get(name)
        if operation is None:
            if name not in self._unprepared:
                raise OperationResolutionFailure
            operation = self._operations[name] = self._unprepared[name]()
        return operation

    def operations(self) -> Iterator[Operation]:
        """All operations. Raises what `operation` raises."""
        return map(self.operation, self._unprepared)


class Documents:
    """The documents of one schema."""

    def __init__(self, schema: GraphQLSchema, settings: Settings, *, remembered_bytes: int = REMEMBERED_BYTES) -> None:
        self._schema = schema
        self._coercions = Coercions()
        self._settings = settings
        self._pricing = Pricing(schema, settings.page_sizes)
        self._suggesting = settings.introspection  # suggestions would reveal what introspection hides
        self._rules = RULES if settings.introspection else (*RULES, NoSchemaIntrospectionCustomRule)
        self._remembered: LRUCache[str, Document] = LRUCache(remembered_bytes, getsizeof=attrgetter("size"))

    def of(self, text: str) -> Document:
        """The document of a text.

        Raises:
            InvalidDocument: It cannot be parsed, or does not fit the schema.
            QueryTooComplex: It is too large or too deep, or would take too long to validate.
        """
        return self.remembered(text) or self.remember(text, self.valid(text))

    def remembered(self, text: str) -> Document | None:
        """The document, if it is remembered."""
        return self._remembered.get(text)

    def remember(self, text: str, document: Document) -> Document:
        """Keep a document that was prepared."""
        if document.size <= self._remembered.maxsize:
            self._remembered[text] = document
        return document

    def valid(self, text: str) -> Document:
        """The document of a text, always prepared anew. May be called on any thread.

        Raises what `of` raises.
        """
        check_text(text, self._settings)
        try:
            parsed = parse_document(text, max_tokens=self._settings.max_tokens)
        except GraphQLSyntaxError as error:
            raise InvalidDocument([error], "GRAPHQL_PARSE_FAILED") from error
        document = parsed.node
        extent = check_shape(document, self._settings)
        errors = validation_errors(
            self._schema, document, self._rules, max_errors=MOST_ERRORS, hide_suggestions=not self._suggesting
        )
        if errors:
            raise InvalidDocument(errors, "GRAPHQL_VALIDATION_FAILED")
        fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
        nodes = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
        variants = MOST_VARIANTS if extent.directives else 1
        fields = [variants * min(number, MOST_FIELDS_VISITED) for number in extent.fields]
        size = DOCUMENT_BYTES + 2 * sys.getsizeof(text) + NODE_BYTES * parsed.nodes
        size += sum(OPERATION_BYTES + FIELD_BYTES * number for number in fields)
        return Document(
            size,
            {
                node.name.value if node.name else None: partial(self._operation, document, node, fragments, number)
                for node, number in zip(nodes, fields, strict=True)
            },
        )

    def _operation(
        self,
        document: DocumentNode,
        node: OperationDefinitionNode,
        fragments: Mapping[str, FragmentDefinitionNode],
        fields: int,
    ) -> Operation:
        compiled, suggesting = self._settings.compiled, self._suggesting
        plan = OperationPlan(self._schema, self._coercions, document, node, fields, compiled, suggesting)
        return Operation(
            plan,
            node.name.value if node.name else None,
            node.operation.value,
            required_scopes(self._schema, node, fragments),
            self._pricing.price(node, fragments),
            self._pricing.least_limit(node, fragments),
            feeds_of(self._schema, node, fragments),
        )
