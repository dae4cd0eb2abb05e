"""What the domains have opened, found by its class: `services.of(Catalogue)`."""

from collections.abc import Iterable
from typing import TypeVar, cast

S = TypeVar("S")


class Services:
    """The opened parts of a process. Each is the only one of its class."""

    def __init__(self, services: Iterable[object] = ()) -> None:
        self._by_kind: dict[type, object] = {}
        for service in services:
            self.add(service)

    def add(self, service: object, kind: type | None = None) -> None:
        """Take in a service, under its own class or under one that it implements.

        Raises:
            ValueError: There is one of this class already.
        """
        kind = kind or type(service)
        if kind in self._by_kind:
            raise ValueError(f"two services of the class {kind.__qualname__} are open: each class may have one")
        self._by_kind[kind] = service

    def of(self, kind: type[S]) -> S:
        """The service of a class.

        Raises:
            LookupError: No domain that is on has opened one.
        """
        try:
            return cast("S", self._by_kind[kind])
        except KeyError:
            raise LookupError(f"no domain that is on has opened a {kind.__qualname__}") from None
