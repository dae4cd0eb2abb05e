"""The settings of the service with all of its domains, as a class that type checkers know."""

from graph.domains.area_watches.settings import AreaWatchSettings
from graph.domains.dashboard.settings import DashboardSettings
from graph.domains.earthquakes.settings import EarthquakeSettings
from graph.domains.fdsn.settings import FdsnSettings
from graph.domains.own_logs.settings import OwnLogSettings
from graph.domains.payloads.settings import PayloadSettings
from graph.domains.request_logs.settings import RequestLogSettings
from graph.domains.service_logs.settings import ServiceLogSettings
from graph.domains.sightings.settings import SightingSettings
from graph.domains.statistics.settings import StatisticsSettings
from graph.domains.triggers.settings import TriggerSettings
from graph.domains.watches.settings import WatchSettings
from graph.settings import Settings as CoreSettings


class Settings(
    CoreSettings,
    EarthquakeSettings,
    DashboardSettings,
    FdsnSettings,
    PayloadSettings,
    RequestLogSettings,
    ServiceLogSettings,
    OwnLogSettings,
    TriggerSettings,
    WatchSettings,
    SightingSettings,
    AreaWatchSettings,
    StatisticsSettings,
):
    """What `graph.opening` assembles from the domains."""
