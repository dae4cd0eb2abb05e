"""Callers and their scopes. `tokens` and `key_set` authenticate them."""

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Self

from graph.core.errors import Forbidden, Unauthenticated


class Scope(str):
    """A permission, by the name that tokens carry: `Scope("events:read", public=True)`. Domains declare theirs."""

    public: bool  # whether callers without a token have it while GRAPH_PUBLIC_READ is on

    def __new__(cls, name: str, *, public: bool = False) -> Self:
        scope = super().__new__(cls, name)
        scope.public = public
        return scope


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated sender of a request. A caller's own records belong to its subject."""

    subject: str | None  # as the token names it; None for a caller without a token
    scopes: frozenset[Scope]
    until: float | None = field(default=None, compare=False)  # epoch seconds, when the token expires

    @property
    def lasts_s(self) -> float | None:
        """Seconds until the token expires; None for a caller without a token."""
        return None if self.until is None else max(self.until - time.time(), 0.0)

    def require(self, scopes: Collection[Scope]) -> None:
        """Check that the caller has all of these scopes.

        Raises:
            Unauthenticated: A scope is missing, and the caller has no token.
            Forbidden: A scope is missing in the caller's token.
        """
        if self.scopes.issuperset(scopes):
            return
        missing = sorted(set(scopes) - self.scopes)
        named = ", ".join(f"`{scope}`" for scope in missing)
        if self.subject is None:
            raise Unauthenticated(f"This needs a token with {named}: send it as `Authorization: Bearer …`.")
        raise Forbidden(f"Your token lacks {named}, which this needs.")
