"""The triggers in the graph."""
