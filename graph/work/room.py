"""Bounds the memory that requests in progress take together."""

from collections.abc import Iterator
from contextlib import contextmanager

from graph.core.errors import BadRequest, Overloaded


class Room:
    """A number of bytes, which requests share."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0

    @contextmanager
    def share(self) -> Iterator["Share"]:
        """The share of one request, which is empty at first."""
        share = Share(self)
        try:
            yield share
        finally:
            self.held -= share.held


class Share:
    """What one request holds of a room."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.held = 0

    def hold(self, size: int) -> None:
        """Hold so many bytes more.

        Raises:
            BadRequest: The request alone would need more than there is.
            Overloaded: Other requests hold too much at present.
        """
        if self.held + size > self._room.most:
            raise BadRequest("The request takes too much memory: send smaller batches.", status=413)
        if self._room.held + size > self._room.most:
            raise Overloaded
        self.held += size
        self._room.held += size
