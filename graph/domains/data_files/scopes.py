"""The scopes of the data files."""

from graph.access.callers import Scope

FILES_READ = Scope("files:read", public=True)
FILES_WRITE = Scope("files:write")
