"""Other projects' tools judge the schema, from `schema.graphql` and from the running service, with all documents."""
