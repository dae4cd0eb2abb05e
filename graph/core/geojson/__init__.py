"""Features of GeoJSON, read one by one from files and from bodies that arrive in chunks."""
