"""What operators run and see: commands, background work, metrics and the state for the readiness."""
