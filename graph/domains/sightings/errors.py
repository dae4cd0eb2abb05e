"""The errors of the sightings."""

from graph.core.errors import RateLimited


class TooManyReports(RateLimited):
    """The user has reported as much at the place as it may within an hour."""

    def __init__(self, most: int, retry_after_s: int) -> None:
        super().__init__(
            retry_after_s, f"You may report {most:,} times an hour in an area or within 10 km, and have done so"
        )
