"""A service whose event loop counts its steps: calls of functions, in Python and in C, by one callback of the loop."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send


class Steps:
    """ASGI middleware that counts, once it is told to begin."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.most = 0
        """The steps of the callback that took the most."""
        self._steps = 0
        self._runner: CodeType | None = None  # what calls the callbacks
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""
        self._loop = asyncio.get_running_loop()
        await self.app(scope, receive, send)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count from zero while a test attacks."""
        assert self._loop
        self.most = self._steps = 0
        self._loop.call_soon_threadsafe(self._begin)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(sys.setprofile, None)

    def _begin(self) -> None:
        caller = sys._getframe(1)
        if caller.f_code is asyncio.Handle._run.__code__ and caller.f_back:
            caller = caller.f_back
        self._runner = caller.f_code
        sys.setprofile(self._count)

    def _count(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            if frame.f_back and frame.f_back.f_code is self._runner:
                self._steps = 0
            self._steps += 1
        elif event == "c_call":
            self._steps += 1
        if self._steps > self.most:
            self.most = self._steps
