"""The graph of the data files."""
