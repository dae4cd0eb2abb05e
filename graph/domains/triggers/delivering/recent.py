"""The retries that this process has set a moment ago. An index of DynamoDB may not show them yet."""

from collections import defaultdict

LAG_MS = 10_000  # longer than an index takes to follow its table


class RecentRetries:
    """Due times of deliveries, by endpoint and sequence number."""

    def __init__(self) -> None:
        self._of_endpoints: defaultdict[str, dict[int, tuple[int, int]]] = defaultdict(dict)  # due, and when it was set

    def add(self, endpoint_id: str, sequence: int, due: int, now: int) -> None:
        """Remember when a delivery is due; times in epoch milliseconds."""
        self._of_endpoints[endpoint_id][sequence] = due, now

    def forget(self, endpoint_id: str, sequence: int) -> None:
        """Forget a delivery, which was found."""
        self._of_endpoints[endpoint_id].pop(sequence, None)

    def earliest(self, endpoint_id: str, now: int) -> int | None:
        """The earliest due time; None without any. It may have passed, if the index has not shown it."""
        recent = self._of_endpoints[endpoint_id]
        for sequence in [sequence for sequence, (_, set_at) in recent.items() if set_at < now - LAG_MS]:
            del recent[sequence]
        if not recent:
            del self._of_endpoints[endpoint_id]
            return None
        return min(due for due, _ in recent.values())
