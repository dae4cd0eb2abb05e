"""The server: its socket, connections, workers, and a shutdown that loses no request."""
