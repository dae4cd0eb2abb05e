"""A message to an endpoint, and the headers that identify and sign it.

Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#webhook-headers-sending-metadata-to-consumers
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from standardwebhooks import Webhook


@dataclass(frozen=True, slots=True)
class Message:
    """One webhook. Every attempt sends it unchanged, with a timestamp and signatures of its own."""

    url: str
    webhook_id: str  # the same for all attempts; without a full stop, since the signed text is `id.timestamp.body`
    body: str  # JSON, sent as UTF-8
    secrets: tuple[str, ...] = field(repr=False)  # `whsec_` and base64; two during a rotation

    def headers(self, now: int) -> dict[str, str]:
        """The headers of an attempt at this time, epoch milliseconds."""
        time = datetime.fromtimestamp(now // 1000, UTC)
        signatures = (Webhook(secret).sign(self.webhook_id, time, self.body) for secret in self.secrets)
        return {
            "webhook-id": self.webhook_id,
            "webhook-timestamp": str(now // 1000),
            "webhook-signature": " ".join(signatures),
        }
