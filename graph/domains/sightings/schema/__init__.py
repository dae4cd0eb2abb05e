"""The sightings in the graph."""
