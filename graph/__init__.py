"""Quakegraph: a GraphQL API service for an earthquake catalogue."""

from importlib.metadata import version

__version__ = version("quakegraph")
