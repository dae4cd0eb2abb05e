"""Measures data files: lists, lineage, plans, and writes. See `benchmarks.data_files.__main__`."""
