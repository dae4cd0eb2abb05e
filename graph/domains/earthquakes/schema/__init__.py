"""The catalogue in the graph: types that describe its records, and resolvers that translate and ask."""
