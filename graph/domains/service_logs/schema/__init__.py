"""The service logs in the graph: their types and resolvers."""
