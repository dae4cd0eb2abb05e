"""Work in flight: bounded for the process and for each caller, and shared out fairly among callers."""
