"""How much a user may report in an area, and from a cell of 10 km, within an hour."""

from collections.abc import Collection

from graph.core.errors import RateLimited
from graph.domains.sightings.entities import REPORT_COUNT
from graph.domains.sightings.iso import hour_of, iso_of
from graph.store.conditions import unchanged
from graph.store.contract import Action, Database, Update

HOUR_S = 3600


class TooManyReports(RateLimited):
    """The user has reported as much at the place as it may within an hour."""

    def __init__(self, most: int, retry_after_s: int) -> None:
        super().__init__(
            retry_after_s, f"You may report {most:,} times an hour in an area or within 10 km, and have done so"
        )


async def one_more_report(
    database: Database, user_id: str, slugs: Collection[str], now: int, *, most: int
) -> list[Action]:
    """The changes for a further report in each of these areas, if none is counted meanwhile; `now` in epoch seconds.

    Raises:
        TooManyReports: The user has made `most` within the hour.
    """
    ends = (now // HOUR_S + 1) * HOUR_S
    keys = [REPORT_COUNT.key_for(user_id, slug, hour_of(iso_of(now))) for slug in slugs]
    items = await database.get_many(keys)
    if any(item["number"] >= most for item in items.values()):
        raise TooManyReports(most, ends - now)
    return [
        Update(key, set={"expiresAt": ends}, add={"number": 1}, condition=unchanged(items.get(key), "number"))
        for key in keys
    ]
