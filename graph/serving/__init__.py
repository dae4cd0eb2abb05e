"""The process that listens: connections, workers, and an end in which no request is lost."""
