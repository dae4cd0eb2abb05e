"""The web page of an event: its head says what link previews and search engines show of it; scripts add all else."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from graph.domains.earthquakes.model import Event, is_deleted
from graph.pages.dashboard.templates import FOLDER, PageTemplate
from graph.pages.error_page import Link, error_page
from graph.pages.headers import page_headers
from graph.pages.root import root_of

SOCIAL_CARD = "event/social_card.png"  # 1200 × 630 pixels

_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Characters that turn the direction of what stands behind them. Titles leave them out."""


@dataclass(frozen=True, slots=True)
class EventPages:
    """The web pages of events."""

    template: PageTemplate
    links: Sequence[Link]  # where to go from a page that does not exist

    def page(self, request: Request, event: Event) -> Response:
        """The page of an event. That of a deleted one says so, and is gone for search engines."""
        return self.template.answer(
            request,
            root=root_of(request),
            status=410 if is_deleted(event.item) else 200,
            head=_head(event, str(request.base_url)),
            title=escape(_title(event)),
            description=escape(_description(event)),
            event_id=escape(event.event_id),
        )

    def unread_page(self, request: Request, event_id: str) -> Response:
        """The page of an event that only callers with a token may read, which its scripts ask for."""
        head = '<meta name="robots" content="noindex">'
        return self.template.answer(
            request, root=root_of(request), head=head, title="Event", description="", event_id=escape(event_id)
        )

    def moved(self, request: Request, event_id: str) -> Response:
        """The way to the page of the id that an event has."""
        headers = {"Cache-Control": page_headers({})["Cache-Control"]}  # a merge may be undone
        return RedirectResponse(f"{root_of(request)}events/{quote(event_id, safe='')}", 301, headers)

    def missing(self, request: Request, event_id: str) -> Response:
        """The page of an id that the catalogue does not have."""
        return self.refused(request, 404, f"The catalogue has no event “{event_id}”.")

    def refused(self, request: Request, status: int, text: str, **headers: str) -> Response:
        """The page of an event that cannot be read."""
        return error_page(request, status, text, links=self.links, headers=headers)


def _title(event: Event) -> str:
    """M 5.5 earthquake, Java, Indonesia"""
    magnitude = f"{event.mag:.1f}".replace("-", "−")
    return f"M {magnitude} {event.type or 'event'}, {event.place}".translate(_TURNING)


def _description(event: Event) -> str:
    """When and where it was, in sentences."""
    when = f"{event.time.day} {event.time:%B} {event.time.year}, {event.time:%H:%M:%S} UTC"
    depth = "depth not measured" if event.depth is None else f"{event.depth:.1f} km deep"
    lat = f"{abs(event.lat):.2f}° {'S' if event.lat < 0 else 'N'}"
    lon = f"{abs(event.lon):.2f}° {'W' if event.lon < 0 else 'E'}"
    deleted = " Its source has deleted this event." if is_deleted(event.item) else ""
    return f"{when}, {depth}, at {lat} {lon}.{deleted}"


def _head(event: Event, base_url: str) -> str:
    """The description of an event: https://ogp.me and https://developer.x.com/en/docs/x-for-websites/cards."""
    properties = {
        "og:type": "article",
        "og:site_name": "Quakegraph",
        "og:title": _title(event),
        "og:description": _description(event),
        "og:image": f"{base_url}{FOLDER}/{SOCIAL_CARD}",
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": "Quakegraph: rings around an epicentre",
    }
    names = {"description": _description(event), "twitter:card": "summary_large_image"}
    return "\n".join(
        [
            f'<link rel="canonical" href="{escape(base_url)}events/{quote(event.event_id, safe="")}">',
            *(f'<meta name="{name}" content="{escape(text)}">' for name, text in names.items()),
            *(f'<meta property="{name}" content="{escape(text)}">' for name, text in properties.items()),
        ]
    )
