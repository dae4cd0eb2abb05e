"""What a caller may do with the service logs."""

from graph.access.callers import Scope

SERVICE_LOGS_READ = Scope("servicelogs:read")
SERVICE_LOGS_WRITE = Scope("servicelogs:write")
