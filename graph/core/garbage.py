"""Tunes Python's garbage collector to run seldom, and breaks the reference cycles that would wait for it."""

import gc
from collections.abc import Iterable


def settle() -> None:
    """Exclude all present objects, above all the schema, from collections, and collect less often.

    Answers and items have no reference cycles, so they are freed without the collector. With Python's
    default settings, the collector took half the time of a page of a hundred events.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def collect_latest() -> None:
    """Free the cycles among objects made since the last collection.

    Work that leaves cycles calls this: by itself, the collector runs once in 50,000 objects.
    """
    gc.collect(0)


def forget_frames(errors: Iterable[BaseException]) -> None:
    """Remove the tracebacks of errors and their causes.

    A traceback holds its frames, and a frame of graphql-core holds its list of errors, or the exception
    itself: a cycle that keeps everything that was prepared or executed.
    """
    found: list[BaseException | None] = list(errors)
    seen: set[int] = set()
    for each in found:  # the list grows meanwhile
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            each.__traceback__ = None
            found += each.__cause__, each.__context__, getattr(each, "original_error", None)
