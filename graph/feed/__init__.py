"""A gap-free sequence of changes, and its broadcast to subscribers."""
