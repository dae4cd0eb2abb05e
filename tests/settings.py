"""The settings of the service with all of its domains, as a class that type checkers know."""

from graph.domains.earthquakes.settings import EarthquakeSettings
from graph.domains.request_logs.settings import RequestLogSettings
from graph.domains.service_logs.settings import ServiceLogSettings
from graph.settings import Settings as CoreSettings


class Settings(CoreSettings, EarthquakeSettings, RequestLogSettings, ServiceLogSettings):
    """What `graph.opening` assembles from the domains."""
