"""Taking events in: from USGS, from callers, from files; once, in a back-fill, or by polling."""
