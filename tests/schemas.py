"""The schema of the service with all of its domains."""

from graph.app import schema_of
from graph.domains import DOMAINS

SCHEMA = schema_of(DOMAINS)
schema = SCHEMA.graphql


def printed() -> str:
    """The schema in the schema definition language."""
    return SCHEMA.printed
