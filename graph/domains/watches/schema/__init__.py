"""The watches' part of the graph."""
