"""The limits of a document's size and shape. They are checked before any other step reads the document.

The document is not validated yet, and its fragments may spread each other in a cycle. So each part
of the text is measured once, and a fragment's measures are added wherever it is spread.
"""

from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
)

from graph.core.errors import QueryTooComplex
from graph.settings import Settings

Definition = OperationDefinitionNode | FragmentDefinitionNode


def check_text(text: str, settings: Settings) -> None:
    """Check the text of a document before parsing.

    Raises:
        QueryTooComplex: The text is too long.
    """
    _check("bytes", len(text.encode(errors="replace")), settings.max_document_bytes)


@dataclass(frozen=True, slots=True)
class Extent:
    """The amount of work in a document."""

    fields: tuple[int, ...]  # of each operation; a fragment's fields count each time that it is spread
    directives: int


def check_shape(document: DocumentNode, settings: Settings) -> Extent:
    """Check a document that is not validated yet.

    Raises:
        QueryTooComplex: It exceeds a limit.
    """
    _check("definitions", len(document.definitions), settings.max_definitions)
    definitions = [node for node in document.definitions if isinstance(node, Definition)]
    shapes = [_shape(definition) for definition in definitions]
    _check("aliases", sum(shape.aliases for shape in shapes), settings.max_aliases)
    _check("directives", sum(shape.directives for shape in shapes), settings.max_directives)
    try:
        fragments = _fragments_with_all_they_spread(definitions, shapes)
    except CycleError:
        return Extent((), 0)  # invalid: validation explains it better
    fields = []
    for definition, shape in zip(definitions, shapes, strict=True):
        whole = shape.with_spreads(fragments)
        _check("levels of fields", whole.depth, settings.max_depth)
        if isinstance(definition, OperationDefinitionNode):
            _check("root fields", whole.root_fields, settings.max_root_fields)
            fields.append(whole.fields)
    return Extent(tuple(fields), sum(shape.directives for shape in shapes))


@dataclass(slots=True)
class _Shape:
    """The measures of one definition."""

    root_fields: int = 0  # those at its first level
    fields: int = 0
    depth: int = 0  # levels of fields
    aliases: int = 0
    directives: int = 0
    spreads: list[tuple[str, int]] = field(default_factory=list)  # fragment's name, level of its spread

    def with_spreads(self, fragments: dict[str, "_Shape"]) -> "_Shape":
        """These measures with those of the spread fragments. An unknown fragment adds nothing."""
        spread = [(fragments[name], level) for name, level in self.spreads if name in fragments]
        return _Shape(
            root_fields=self.root_fields + sum(shape.root_fields for shape, level in spread if level == 0),
            fields=self.fields + sum(shape.fields for shape, _ in spread),
            depth=max([self.depth, *(level + shape.depth for shape, level in spread)]),
        )


def _shape(definition: Definition) -> _Shape:
    shape = _Shape(directives=len(definition.directives or ()))
    shape.directives += sum(len(variable.directives or ()) for variable in definition.variable_definitions or ())
    below: list[tuple[SelectionSetNode, int]] = [(definition.selection_set, 0)]
    while below:
        selection_set, level = below.pop()
        for selection in selection_set.selections:
            shape.directives += len(selection.directives or ())
            match selection:
                case FieldNode():
                    shape.root_fields += level == 0
                    shape.fields += 1
                    shape.depth = max(shape.depth, level + 1)
                    shape.aliases += selection.alias is not None
                    if selection.selection_set:
                        below.append((selection.selection_set, level + 1))
                case InlineFragmentNode():
                    below.append((selection.selection_set, level))
                case FragmentSpreadNode():
                    shape.spreads.append((selection.name.value, level))
    return shape


def _fragments_with_all_they_spread(definitions: list[Definition], shapes: list[_Shape]) -> dict[str, _Shape]:
    """Each fragment's measures, including the fragments that it spreads."""
    own = {
        definition.name.value: shape
        for definition, shape in zip(definitions, shapes, strict=True)
        if isinstance(definition, FragmentDefinitionNode)
    }
    order = TopologicalSorter({name: {spread for spread, _ in shape.spreads} for name, shape in own.items()})
    whole: dict[str, _Shape] = {}
    for name in order.static_order():
        if name in own:
            whole[name] = own[name].with_spreads(whole)
    return whole


def _check(what: str, found: int, most: int) -> None:
    if found > most:
        raise QueryTooComplex(f"The document has {found:,} {what}, and may have {most:,}: send a smaller one.")
