"""How many files and sockets a process may have open."""

import sys

UNKNOWN = 1024


def most_open_files() -> int:
    """Raise the limit of this process as far as the system lets it, and return it.

    Many systems give a process 1,024 at first, for programs that use `select`, and let it have far more.
    """
    if sys.platform == "win32":
        return UNKNOWN
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard or hard == resource.RLIM_INFINITY:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError):  # macOS has a lower limit that it does not name
            return soft
        soft = hard
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
