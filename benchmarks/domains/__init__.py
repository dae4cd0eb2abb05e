"""Measures pages of all domains, each among a million items. See `benchmarks.domains.__main__`."""
