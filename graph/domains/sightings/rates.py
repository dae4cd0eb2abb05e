"""How much a user may report in an area, and from a cell of 10 km, within an hour."""

from collections.abc import Collection

from graph.core.clock import Clock
from graph.domains.sightings.entities import REPORT_COUNT
from graph.domains.sightings.errors import TooManyReports
from graph.domains.sightings.iso import hour_of, iso_of
from graph.store.conditions import unchanged
from graph.store.contract import Action, Database, Update

HOUR_S = 3600


class ReportRates:
    """Counts reports."""

    def __init__(self, database: Database, clock: Clock, *, most: int) -> None:
        """Prepare to count.

        Args:
            most: reports of a user in an area or from a cell within an hour.
        """
        self._database = database
        self._clock = clock
        self._most = most

    async def one_more(self, user_id: str, slugs: Collection[str]) -> list[Action]:
        """The changes for a further report in each of these areas, if none is counted meanwhile.

        Raises:
            TooManyReports: The user has to wait.
        """
        now = self._clock() // 1000
        ends = (now // HOUR_S + 1) * HOUR_S
        keys = [REPORT_COUNT.key_for(user_id, slug, hour_of(iso_of(now))) for slug in slugs]
        items = await self._database.get_many(keys)
        if any(item["number"] >= self._most for item in items.values()):
            raise TooManyReports(self._most, ends - now)
        return [
            Update(key, set={"expiresAt": ends}, add={"number": 1}, condition=unchanged(items.get(key), "number"))
            for key in keys
        ]
