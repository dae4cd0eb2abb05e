"""The service's own logs, kept as service logs."""
