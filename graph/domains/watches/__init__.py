"""Watches of the catalogue: which of them want a version of an event."""
