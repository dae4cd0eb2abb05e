"""GraphiQL's examples of all domains, and the titles of their tabs."""

from graphql import OperationDefinitionNode, parse

from graph.domains import DOMAINS
from graph.pages import graphiql

EXAMPLES = [example for domain in DOMAINS if domain.examples for example in graphiql.examples_of(domain.examples)]
TABS = [
    operation.name.value
    for example in EXAMPLES
    for operation in parse(example.query).definitions
    if isinstance(operation, OperationDefinitionNode) and operation.name
]
