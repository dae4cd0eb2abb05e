"""The web pages of the catalogue: the dashboard, and a page for each event."""

from collections.abc import Sequence

from graph.domain import Domain, WebPage
from graph.domains.dashboard.routes import dashboard_routes
from graph.domains.dashboard.settings import DashboardSettings
from graph.domains.earthquakes.scopes import EVENTS_READ
from graph.settings import Settings


def pages(settings: Settings) -> Sequence[WebPage]:
    """The dashboard, which reads events."""
    scopes = () if settings.public_read else (EVENTS_READ,)
    return (WebPage("Dashboard", "/", scopes),) if settings.part(DashboardSettings).dashboard else ()


DOMAIN = Domain(
    name="dashboard",
    requires=("statistics", "export"),  # which its pages show
    part_of="earthquakes",
    settings=DashboardSettings,
    routes=dashboard_routes,
    pages=pages,
)
