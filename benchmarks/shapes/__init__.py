"""Measures queries of other shapes than those of `benchmarks.compare`. See `benchmarks.shapes.__main__`."""
