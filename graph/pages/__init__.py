"""The web pages of the service: GraphiQL and the dashboard."""
