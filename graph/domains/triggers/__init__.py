"""Triggers: events of users, their inbox, watches of the catalogue, and signed webhooks."""
