"""What else could be built: servers for the same questions on the same events, each the ordinary way."""
