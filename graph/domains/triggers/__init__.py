"""Triggers: events of a user's own, an inbox, watches of the catalogue, and signed webhooks."""
