"""The domains of the service, each behind those that it builds on. To add one is to name it here."""

from graph.domains import earthquakes, request_logs

DOMAINS = (earthquakes.DOMAIN, request_logs.DOMAIN)
