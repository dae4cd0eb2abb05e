"""The folder where the benchmarks keep what takes long to make: catalogues, installed packages, the last table."""

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or CHECKOUT / ".cache") / "benchmarks"


def made_folder() -> Path:
    """The folder, which is made if it is missing."""
    CACHE.mkdir(parents=True, exist_ok=True)
    return CACHE
