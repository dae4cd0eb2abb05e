"""Request logs: what was asked of the service, how it went, and which filters are popular."""
