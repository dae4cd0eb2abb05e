"""Versions of events: the latest one, those that it replaced, and the catalogue as it was."""
