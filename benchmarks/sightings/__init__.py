"""Measures sightings: pages among many that have expired, and writes. See `benchmarks.sightings.__main__`."""
