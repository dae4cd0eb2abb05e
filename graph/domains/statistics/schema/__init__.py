"""The statistics' part of the graph."""
