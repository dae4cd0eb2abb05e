"""The services that the domains have opened, by their classes: `services.of(Catalogue)`."""

from collections.abc import Iterable
from typing import TypeVar, cast

S = TypeVar("S")


class Services:
    """The opened services of a process, one for each class."""

    def __init__(self, services: Iterable[object] = ()) -> None:
        self._by_kind: dict[type, object] = {}
        for service in services:
            self.add(service)

    def add(self, service: object, kind: type | None = None) -> None:
        """Add a service under its own class, or under one that it implements.

        Raises:
            ValueError: The class has a service already.
        """
        kind = kind or type(service)
        if kind in self._by_kind:
            raise ValueError(f"two services of the class {kind.__qualname__} are open: each class may have one")
        self._by_kind[kind] = service

    def of(self, kind: type[S]) -> S:
        """The service of a class.

        Raises:
            LookupError: No domain that is switched on has opened one.
        """
        try:
            return cast("S", self._by_kind[kind])
        except KeyError:
            raise LookupError(f"no domain that is switched on has opened a {kind.__qualname__}") from None
