"""What an index of DynamoDB may not show yet: the retries that this process has set, and what others have."""

from collections import defaultdict

LAG_MS = 10_000  # longer than an index takes to follow its table


class RecentRetries:
    """Due times of deliveries, by endpoint and sequence number; and endpoints of which something is not found."""

    def __init__(self) -> None:
        self._of_endpoints: defaultdict[str, dict[int, tuple[int, int]]] = defaultdict(dict)  # due, and when it was set
        self._missed: dict[str, int] = {}  # since when something is not found, epoch milliseconds

    def add(self, endpoint_id: str, sequence: int, due: int, now: int) -> None:
        """Remember when a delivery is due; times in epoch milliseconds."""
        recent = self._recent(endpoint_id, now)
        recent.pop(sequence, None)
        recent[sequence] = due, now

    def forget(self, endpoint_id: str, sequence: int) -> None:
        """Forget a delivery, which was found or has ended."""
        if recent := self._of_endpoints.get(endpoint_id):
            recent.pop(sequence, None)

    def earliest(self, endpoint_id: str, now: int) -> int | None:
        """The earliest due time; None without any. It may have passed, if the index has not shown it."""
        if recent := self._recent(endpoint_id, now):
            return min(due for due, _ in recent.values())
        del self._of_endpoints[endpoint_id]
        return None

    def found(self, endpoint_id: str) -> None:
        """Note that something of an endpoint was found, or that nothing waits."""
        self._missed.pop(endpoint_id, None)

    def may_lag(self, endpoint_id: str, now: int) -> bool:
        """Whether what waits, and is not found, may be due to an index."""
        return now - self._missed.setdefault(endpoint_id, now) < LAG_MS

    def _recent(self, endpoint_id: str, now: int) -> dict[int, tuple[int, int]]:
        """The retries of an endpoint in the order in which they were set, without those that any index shows."""
        recent = self._of_endpoints[endpoint_id]
        while recent and recent[first := next(iter(recent))][1] < now - LAG_MS:
            del recent[first]
        return recent
