"""graphql-core's executor, which takes a compiled function for what is plain.

The functions belong to a document, and are found again by the identity of its nodes, so that only
its first execution compiles them. Which nodes are selected may depend on `@skip` and
`@include`: a function holds for the values that their variables had.
"""

from collections.abc import Mapping
from typing import Any

from graphql import (
    DirectiveNode,
    DocumentNode,
    GraphQLOutputType,
    GraphQLResolveInfo,
    Node,
    VariableNode,
    Visitor,
    visit,
)
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails
from graphql.pyutils import AwaitableOrValue, Path

from graph.execution.completion import Complete, compiled

MOST_FUNCTIONS = 64  # of a document: a client can turn its directives in more ways than there is memory

Key = tuple[Any, ...]


class Compiled:
    """The functions of one document."""

    def __init__(self, document: DocumentNode) -> None:
        self._switches = tuple(_switches(document))
        self._functions: dict[Key, Complete | None] = {}

    def switched(self, variables: Mapping[str, Any]) -> Key:
        """What decides which of the document's fields are selected."""
        return tuple(map(variables.get, self._switches))

    def function(
        self, executor: Executor[Any], switched: Key, of: GraphQLOutputType, fields: list[FieldDetails]
    ) -> Any:
        """What completes values of the type with these fields; None where the executor has to."""
        key = (of, *[id(field.node) for field in fields], *switched)
        try:
            return self._functions[key]
        except KeyError:
            if len(self._functions) >= MOST_FUNCTIONS:
                return None
            function = self._functions[key] = compiled(executor, of, fields)
            return function


class PlainExecutor(Executor[Any]):
    """Executes one operation of a document."""

    def __init__(self, *args: Any, functions: Compiled, **options: Any) -> None:
        super().__init__(*args, **options)
        self._functions = functions
        self._switched = functions.switched(self.variable_values.coerced)

    def complete_value(
        self,
        return_type: GraphQLOutputType,
        field_details_list: list[FieldDetails],
        info: GraphQLResolveInfo,
        path: Path,
        result: Any,
        position_context: Any,
    ) -> AwaitableOrValue[Any]:
        if result is not None and field_details_list[0].node.selection_set:
            complete = self._functions.function(self, self._switched, return_type, field_details_list)
            if complete:
                try:
                    return complete(result)
                except Exception:  # noqa: S110 — the executor finds it again, and tells where it is
                    pass
        return super().complete_value(return_type, field_details_list, info, path, result, position_context)


def _switches(document: DocumentNode) -> dict[str, None]:
    """The variables that directives take, in the order of the document."""
    names: dict[str, None] = {}

    class Reader(Visitor):
        def enter_variable(self, node: VariableNode, *context: Any) -> None:
            ancestors: list[Node | list[Node]] = context[3]
            if any(isinstance(ancestor, DirectiveNode) for ancestor in ancestors):
                names[node.name.value] = None

    visit(document, Reader())
    return names
