"""Ingests events from USGS, callers and files: once, in a back-fill, or by polling."""
