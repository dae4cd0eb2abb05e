"""Measures triggers: deliveries, their delays, the inbox, and watches. See `benchmarks.triggers.__main__`."""
