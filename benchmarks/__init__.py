"""Measurements of the service. None of this is installed with it: each is run from a checkout."""
