"""The exports' part of the graph."""
