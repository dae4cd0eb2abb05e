"""How much a user may report in an area within an hour."""

from graph.core.clock import Clock
from graph.domains.sightings.entities import REPORT_COUNT
from graph.domains.sightings.errors import TooManyReports
from graph.domains.sightings.iso import hour_of, iso_of
from graph.store.conditions import unchanged
from graph.store.contract import Database, Update

HOUR_S = 3600


class ReportRates:
    """Counts reports."""

    def __init__(self, database: Database, clock: Clock, *, most: int) -> None:
        """Prepare to count.

        Args:
            most: reports of a user in an area within an hour.
        """
        self._database = database
        self._clock = clock
        self._most = most

    async def one_more(self, user_id: str, area_slug: str) -> Update:
        """The change for a further report, if none is counted meanwhile.

        Raises:
            TooManyReports: The user has to wait.
        """
        now = self._clock() // 1000
        ends = (now // HOUR_S + 1) * HOUR_S
        key = REPORT_COUNT.key_for(user_id, area_slug, hour_of(iso_of(now)))
        item = await self._database.get(key)
        if item and item["number"] >= self._most:
            raise TooManyReports(self._most, ends - now)
        return Update(key, set={"expiresAt": ends}, add={"number": 1}, condition=unchanged(item, "number"))
