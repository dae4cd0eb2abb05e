"""Executing operations: graphql-core's executor, with functions compiled for what is plain."""
