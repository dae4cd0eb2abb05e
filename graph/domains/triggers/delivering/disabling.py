"""Disables endpoints that want no deliveries, and tells their users by an event."""

from graph.domains.triggers.endpoints import Endpoints, disabled
from graph.domains.triggers.event_types import DISABLED, payload_of_disabled
from graph.domains.triggers.model import Endpoint, EndpointDisabledReason, NewTriggerEvent
from graph.domains.triggers.outbox import Outbox
from graph.observability.logs import get_logger
from graph.store.rounds import until_applied

logger = get_logger(__name__)


@until_applied("other changes of the same endpoint kept coming first")
async def disable(
    endpoints: Endpoints, outbox: Outbox, endpoint: Endpoint, reason: EndpointDisabledReason
) -> bool | None:
    """Disable an endpoint, together with the event that tells its user. Returns whether it was still open."""
    of_user = (await endpoints.of_users([endpoint.user_id]))[endpoint.user_id]
    stored = next((each for each in of_user if each.endpoint_id == endpoint.endpoint_id), None)
    if stored is None or not stored.is_open:
        return False
    others = [each for each in of_user if each is not stored and each.wants(DISABLED)]
    event = NewTriggerEvent(
        stored.user_id,
        DISABLED,
        payload_of_disabled(stored, reason),
        metadata={},
        endpoint_ids=tuple(each.endpoint_id for each in others),
    )
    if not await outbox.create_some([event], lambda _: disabled(stored, reason)):
        return None
    logger.info("An endpoint was disabled", endpoint=stored.endpoint_id, reason=reason.value)
    return True
