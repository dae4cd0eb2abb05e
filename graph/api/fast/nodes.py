"""Walks through the nodes of a document, each once, without recursion and without visitors.

graphql-core's `visit` takes ten times as long. Its visitors stay in memory until the garbage
collector finds them, since a visitor's table of methods refers back to it.
"""

from collections.abc import Iterator

from graphql import DirectiveNode, Node, VariableNode
from graphql.language.ast import QUERY_DOCUMENT_KEYS


def walk(root: Node) -> Iterator[Node]:
    """The node and all nodes below it, in no particular order."""
    nodes = [root]
    while nodes:
        node = nodes.pop()
        yield node
        for key in QUERY_DOCUMENT_KEYS.get(node.kind, ()):
            value = getattr(node, key, None)
            if value.__class__ is tuple:
                nodes += value
            elif value is not None:
                nodes.append(value)


def has_variables(root: Node) -> bool:
    """Whether the node contains a variable."""
    return any(isinstance(node, VariableNode) for node in walk(root))


def variables_of_directives(root: Node) -> list[str]:
    """The names of the variables that directives below the node take, each once."""
    names = {
        inner.name.value: None
        for node in walk(root)
        if isinstance(node, DirectiveNode)
        for inner in walk(node)
        if isinstance(inner, VariableNode)
    }
    return list(names)
