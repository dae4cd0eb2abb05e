"""Answers queries, without a word of HTTP: which format, which pages, how many events."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

from graph.core.errors import BadUserInput
from graph.domains.earthquakes.catalogue import Catalogue
from graph.domains.earthquakes.model import Event
from graph.domains.fdsn.counting import check_size, exact_count
from graph.domains.fdsn.errors import VERSION
from graph.domains.fdsn.formats import AnswerFormat
from graph.domains.fdsn.geojson import FdsnGeoJson
from graph.domains.fdsn.history import earlier_versions, named_events
from graph.domains.fdsn.kml import Kml
from graph.domains.fdsn.parameters import COUNT_FORMATS
from graph.domains.fdsn.quakeml import QuakeML
from graph.domains.fdsn.query import FdsnQuery
from graph.domains.fdsn.rows import EventRows
from graph.domains.fdsn.settings import FdsnSettings
from graph.domains.fdsn.text import EventText
from graph.domains.fdsn.usgs_csv import UsgsCsv
from graph.work.account import give_way

EVENTS_PER_PIECE = 100  # written before other work may run; as XML they take 1 ms

Run = Callable[[Callable[[], Coroutine[Any, Any, bytes]]], Awaitable[bytes]]
"""Runs a read within the limits of a query."""


class PagedAnswer:
    """The answer to a query, page by page."""

    def __init__(self, catalogue: Catalogue, query: FdsnQuery, format_: AnswerFormat, most: int) -> None:
        self.format = format_
        self.count = 0  # events so far
        self._catalogue = catalogue
        self._most = most  # events
        self._query = query
        self._rows = EventRows(catalogue, query, format_.attributes)
        self._first = b""
        self._unwritten: Sequence[Event] | None = None  # the present page, until all of it is written

    @property
    def is_over(self) -> bool:
        """Whether no page follows."""
        return self._rows.is_over

    async def begin(self) -> None:
        """Check that the answer is not too large, and read its first page.

        Raises:
            TooMuchData: It is too large.
        """
        await check_size(self._catalogue, self._query, self._most)
        self._first = await self._page()

    async def pieces(self, run: Run) -> AsyncGenerator[bytes, None]:
        """The whole answer. Each page but the first is read when the one before it was taken."""
        yield self.format.head + self._first
        self._first = b""
        while not self._rows.is_over:
            yield await run(self._page)
        yield self.format.tail(self.count)

    async def _page(self) -> bytes:
        """The next page. It may be asked for again after a failure, and then neither repeats nor misses an event."""
        if self._unwritten is None:
            self._unwritten = await self._rows.next_page()
        events = self._unwritten
        earlier = await earlier_versions(self._catalogue, self._query, events)
        pieces = []
        for first in range(0, len(events), EVENTS_PER_PIECE):
            pieces.append(self.format.rows(events[first : first + EVENTS_PER_PIECE], earlier))
            await give_way()
        self.count += len(events)
        self._unwritten = None
        return b"".join(pieces)


def answer_to(
    catalogue: Catalogue, given: Mapping[str, Any], own: FdsnSettings, *, url: str, now_ms: int
) -> PagedAnswer:
    """The answer to a query, which has not begun.

    Args:
        given: the checked parameters.
        own: the settings of the service.
        url: of the request.
        now_ms: epoch milliseconds.

    Raises:
        BadUserInput: The parameters contradict each other.
    """
    query = FdsnQuery.of(given)
    match given.get("format", "xml"):
        case "text":
            format_: AnswerFormat = EventText()
        case "csv":
            format_ = UsgsCsv(spreadsheet=given.get("spreadsheet", False))
        case "geojson":
            format_ = FdsnGeoJson(url=url, generated_ms=now_ms, version=VERSION)
        case "kml":
            colour_by, animated = given.get("kmlcolorby", "age"), given.get("kmlanimated", False)
            format_ = Kml(now_ms=now_ms, colour_by=colour_by, animated=animated)
        case _:
            origins, magnitudes = query.all_origins, query.all_magnitudes
            format_ = QuakeML(own.fdsn_authority, all_origins=origins, all_magnitudes=magnitudes)
    return PagedAnswer(catalogue, query, format_, own.fdsn_max_events)


async def count_of(catalogue: Catalogue, given: Mapping[str, Any]) -> int:
    """The number of events that match, whatever `limit` and `offset` are.

    Raises:
        BadUserInput: The parameters contradict each other, or the format is not one of a count.
        TooMuchData: Too many events would have to be read.
    """
    if given.get("format", "text") not in COUNT_FORMATS:
        raise BadUserInput(f"`format` of a count must be one of {', '.join(COUNT_FORMATS)}.")
    query = FdsnQuery.of(given)
    if query.event_ids is not None:
        return len(await named_events(catalogue, query, query.event_ids))
    return await exact_count(catalogue, query)
