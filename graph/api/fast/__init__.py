"""Executes operations by graphql-core's executor, with compiled functions for plain selections."""
