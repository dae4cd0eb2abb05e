"""The secret that a service makes for itself where none is configured: in a file beside its store.

Good for one machine: whoever can read the store can read it too, and nobody else. Every process
of the service, and `quakegraph token`, finds the same one.
"""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from graph.settings import Misconfigured
from graph.store.location import StoreLocation

SECRET_BYTES = 32


class UnusableSecret(Misconfigured):
    """The file cannot be made or read, or is open to others."""


def secret_file(location: StoreLocation) -> Path:
    """Where the secret of a store is: beside its file, for a table in the working folder."""
    return Path(f"{location.name}.secret")


def own_secret(location: StoreLocation) -> str:
    """The store's secret, made where it is missing.

    Raises:
        UnusableSecret: There is none that can be trusted.
    """
    path = secret_file(location)
    try:
        if not path.exists():
            _make(path)
        return _read(path)
    except OSError as error:
        raise UnusableSecret(f"the secret {path} cannot be used: {error.strerror}") from error


def _make(path: Path) -> None:
    """Write a new secret under its name at once and whole, unless another process was faster."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        draft.unlink()  # of a process that had this number, and did not come to its end
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)  # which, unlike a renaming, replaces nothing
    finally:
        draft.unlink()


def _read(path: Path) -> str:
    with path.open() as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise UnusableSecret(f"the secret {path} can be read by others: run `chmod 600 {path}`, or delete it")
        secret = file.read(1024).strip()
    if len(secret) < SECRET_BYTES:
        raise UnusableSecret(f"the secret {path} is too short: delete it, and a new one is made")
    return secret
