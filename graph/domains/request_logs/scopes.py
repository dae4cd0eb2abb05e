"""What a caller may do with the request logs."""

from graph.access.callers import Scope

LOGS_READ = Scope("logs:read")
