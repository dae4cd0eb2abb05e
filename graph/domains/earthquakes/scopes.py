"""What a caller may do with the catalogue."""

from graph.access.callers import Scope

EVENTS_READ = Scope("events:read", public=True)
EVENTS_WRITE = Scope("events:write")
