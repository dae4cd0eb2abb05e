"""Ways in for the files of the Libera science data centre: names, manifests and construction records."""
