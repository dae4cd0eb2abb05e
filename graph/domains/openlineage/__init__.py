"""Takes in events of OpenLineage: files become known, and runs with what they used and generated."""
