"""The web service `fdsnws-event` 1.2 over the catalogue, for clients such as ObsPy, SeismoStats and QGIS.

    parameters → query → rows → format → download

Source: FDSN Web Service Specifications 1.2 (2019), https://www.fdsn.org/webservices/; where they are silent, the
service of USGS, https://earthquake.usgs.gov/fdsnws/event/1/.
"""

from graph.domain import Domain
from graph.domains.fdsn.routes import fdsn_routes
from graph.domains.fdsn.settings import FdsnSettings

DOMAIN = Domain(
    name="fdsn",
    part_of="earthquakes",
    settings=FdsnSettings,
    routes=fdsn_routes,
)
