"""What callers may do with sightings. Reading is public, as that of events."""

from graph.access.callers import Scope

SIGHTINGS_READ = Scope("sightings:read", public=True)
SIGHTINGS_WRITE = Scope("sightings:write")
SIGHTINGS_MODERATE = Scope("sightings:moderate")
