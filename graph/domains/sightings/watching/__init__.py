"""Watches of areas: which of them want a sighting."""
