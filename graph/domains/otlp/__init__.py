"""OTLP/HTTP: how collectors, agents and SDKs of OpenTelemetry send their logs.

    body → bodies → format, protobuf or JSON → records one by one → values, mapping → LogWriter → answer

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from collections.abc import Sequence

from graph.domain import Domain, Resources
from graph.domains.otlp.files import logs_of_object
from graph.domains.otlp.intake import LogIntake
from graph.domains.otlp.routes import otlp_routes
from graph.domains.service_logs.log_file import LogReaders
from graph.domains.service_logs.writing import LogWriter


async def open_services(resources: Resources) -> Sequence[object]:
    """Open the intake of requests, and let files have them too."""
    resources.services.of(LogReaders)["resourceLogs"] = logs_of_object
    return [LogIntake(resources.services.of(LogWriter), resources.clock)]


DOMAIN = Domain(
    name="otlp",
    part_of="service_logs",
    open=open_services,
    routes=otlp_routes,
)
