"""What a caller may do with its own triggers."""

from graph.access.callers import Scope

TRIGGERS_READ = Scope("triggers:read")
TRIGGERS_WRITE = Scope("triggers:write")
