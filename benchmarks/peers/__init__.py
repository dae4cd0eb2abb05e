"""The peers: ordinary servers that answer the same questions on the same events."""
