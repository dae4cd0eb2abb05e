"""The errors of the sightings."""

from graph.core.errors import GraphError, RateLimited


class TooManyReports(RateLimited):
    """The user has reported as much in the area as it may within an hour."""

    def __init__(self, most: int, retry_after_s: int) -> None:
        GraphError.__init__(
            self, f"You may report {most:,} times an hour in an area, and have done so: try again in {retry_after_s} s."
        )
        self.retry_after_s = retry_after_s
