"""Assigns CPUs: one for the server and one for the load generator, so that neither takes the other's time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cpus:
    """The numbers of the CPUs; None if the machine does not let us choose."""

    server: int | None
    load: int | None

    @classmethod
    def of_this_machine(cls) -> "Cpus":
        """The first two that this process may use."""
        usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        return cls(usable[0], usable[1]) if len(usable) > 1 else cls(None, None)

    def __str__(self) -> str:
        if self.server is None:
            return "Servers and load share their CPUs, since there are not two: compare with care"
        return f"The servers run on CPU {self.server}, the load on CPU {self.load}"


@contextmanager
def on_cpu(*numbers: int | None) -> Iterator[None]:
    """Processes that are started within the `with` stay on these CPUs, or on any if one is None."""
    chosen = {number for number in numbers if number is not None}
    if len(chosen) < len(numbers):
        yield
        return
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, chosen)
    try:
        yield
    finally:
        os.sched_setaffinity(0, usable)
