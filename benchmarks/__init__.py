"""Measurements of the service. They are not installed with it: run each from a checkout."""
