"""Validates documents by graphql-core's rules, in bounded time and without reference cycles.

graphql-core's own `validate` differs in two ways. Its bound on comparing the fields of one response
name is high, so that this may take a second. And its visitors hold a table of their own methods,
which refers back to them, so that each document leaves several hundred objects in cycles.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

from graphql import (
    SKIP,
    DocumentNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLInputType,
    GraphQLSchema,
    ListValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    ParallelVisitor,
    SelectionSetNode,
    TypeInfo,
    TypeInfoVisitor,
    ValidationContext,
    ValueNode,
    Visitor,
    VisitorAction,
    specified_rules,
    visit,
)
from graphql.utilities.validate_input_value import validate_input_literal
from graphql.validation import ASTValidationRule, OverlappingFieldsCanBeMergedRule, ValuesOfCorrectTypeRule
from graphql.validation.validate import ValidationAbortedError, query_document_keys_to_validate
from graphql.validation.validation_context import VariableUsage, VariableUsageVisitor

from graph.core import garbage
from graph.core.errors import QueryTooComplex

MOST_COMPARISONS = 15_000
"""The most comparisons, as graphql-core counts them: two for a pair of fields or fragments, one for a step.

A page with ten fragments in one selection takes 800, one with twenty 3,200. Fields with different
response names take none. So the queries of GraphiQL and of the dashboard take none.
"""

MOST_FRAGMENT_WORK = 10_000
"""The most work on shared fragments: graphql-core counts one for each spread and each use of a variable."""

MOST_ERRORS_OF_A_VALUE = 5  # each error prints the whole value


class FieldsCanBeMerged(OverlappingFieldsCanBeMergedRule):
    """The rule that compares fields of one response name in pairs, with our bound."""

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self.rule_context.remaining_complexity_budget = MOST_COMPARISONS


class ValuesOfCorrectType(ValuesOfCorrectTypeRule):
    """The rule that checks values. It stops at a value with several errors, and locates what a scalar refuses."""

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self._left = MOST_ERRORS_OF_A_VALUE

    def is_valid_value_node(self, node: ValueNode, input_type: GraphQLInputType | None) -> VisitorAction:
        self._left = MOST_ERRORS_OF_A_VALUE

        def report(error: GraphQLError, path: Sequence[str | int]) -> None:
            self.report_error(error if error.nodes else GraphQLError(error.message, _literal_at(node, path)))
            self._left -= 1
            if not self._left:
                raise _EnoughErrorsOfAValue

        if input_type:
            with suppress(_EnoughErrorsOfAValue):
                validate_input_literal(node, input_type, report, None, None, self.context.hide_suggestions)
        return SKIP


def _literal_at(literal: ValueNode, path: Sequence[str | int]) -> ValueNode:
    """The part of a literal that a path leads to. One value may stand for a list of one."""
    for key in path:
        match literal:
            case ObjectValueNode(fields=fields):
                literal = next(field.value for field in fields if field.name.value == key)
            case ListValueNode(values=values) if isinstance(key, int):
                literal = values[key]
    return literal


_OURS: dict[type[ASTValidationRule], type[ASTValidationRule]] = {
    OverlappingFieldsCanBeMergedRule: FieldsCanBeMerged,
    ValuesOfCorrectTypeRule: ValuesOfCorrectType,
}

RULES = tuple(_OURS.get(rule, rule) for rule in specified_rules)


class _EnoughErrorsOfAValue(Exception):
    """No more errors are reported of one value."""


class _EnoughErrors(Exception):
    """No more errors are reported of one document."""


def validation_errors(
    schema: GraphQLSchema,
    document: DocumentNode,
    rules: Collection[type[ASTValidationRule]],
    *,
    max_errors: int,
    hide_suggestions: bool,
) -> list[GraphQLError]:
    """The errors of a document.

    Raises:
        QueryTooComplex: Validation would take too long.
    """
    errors: list[GraphQLError] = []

    def on_error(error: GraphQLError) -> None:
        if len(errors) >= max_errors:
            raise _EnoughErrors
        errors.append(error)

    context = _Context(schema, document, TypeInfo(schema), on_error, hide_suggestions)
    visitors = [rule(context) for rule in rules]
    is_done = False
    with suppress(ValidationAbortedError, RecursionError):
        try:
            _visit_typed(document, context.types, ParallelVisitor(visitors))
        except _EnoughErrors:
            errors.append(GraphQLError("Too many validation errors, error limit reached. Validation aborted."))
        is_done = True
    for visitor in visitors:
        visitor.enter_leave_map.clear()
    if errors:
        garbage.forget_frames(errors)
        garbage.collect_latest()  # graphql-core leaves cycles when it prints a value
    if not is_done:
        raise QueryTooComplex(  # outside of `except`, so that it holds no frame of the rules
            "The document has too many fields of one name, or too many fragments in fragments, to be validated."
        )
    return errors


def _visit_typed(
    root: DocumentNode | OperationDefinitionNode | FragmentDefinitionNode, types: TypeInfo, visitor: Visitor
) -> None:
    """Let a visitor see all nodes and their types, then empty its table of methods."""
    typed = TypeInfoVisitor(types, visitor)
    try:
        visit(root, typed, query_document_keys_to_validate)
    finally:
        typed.enter_leave_map.clear()
        visitor.enter_leave_map.clear()


class _Context(ValidationContext):
    """The context of the rules.

    It finds nodes by their identity: graphql-core's hash of a node reads everything below it.
    """

    def __init__(self, schema: GraphQLSchema, document: DocumentNode, types: TypeInfo, *others: Any) -> None:
        super().__init__(schema, document, types, *others)
        self._remaining_fragment_work = MOST_FRAGMENT_WORK
        self.types = types
        self._spreads_of: dict[int, list[FragmentSpreadNode]] = {}
        self._usages_of: dict[int, list[VariableUsage]] = {}

    def get_fragment_spreads(self, node: SelectionSetNode) -> list[FragmentSpreadNode]:
        spreads = self._spreads_of.get(id(node))
        if spreads is None:
            spreads = self._spreads_of[id(node)] = super().get_fragment_spreads(node)
        return spreads

    def get_variable_usages(self, node: OperationDefinitionNode | FragmentDefinitionNode) -> list[VariableUsage]:
        usages = self._usages_of.get(id(node))
        if usages is None:
            reader = VariableUsageVisitor(self.types, node if isinstance(node, FragmentDefinitionNode) else None)
            _visit_typed(node, self.types, reader)
            usages = self._usages_of[id(node)] = reader.usages
        return usages
