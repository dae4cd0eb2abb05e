"""What happened, in order: a gap-free sequence of changes, and its broadcast to subscribers."""
