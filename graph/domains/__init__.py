"""The domains: packages of one shape, each of which gives the service tables, types, routes and tasks."""
