"""The secret that the service makes for itself if none is configured, in a file beside its store.

It suits one machine: only users who can read the store can read it. Every process of the service and
`quakegraph token` use the same secret.
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
    """The file cannot be written or read, or others can read it."""


def secret_file(location: StoreLocation) -> Path:
    """The path of a store's secret: beside its file, or for DynamoDB in the working folder."""
    return Path(f"{location.name}.secret")


def own_secret(location: StoreLocation) -> str:
    """The store's secret. A missing one is made.

    Raises:
        UnusableSecret: The secret cannot be trusted, read or written.
    """
    path = secret_file(location)
    try:
        if not path.exists():
            _make(path)
        return _read(path)
    except OSError as error:
        raise UnusableSecret(f"the secret {path} cannot be used: {error.strerror}") from error


def _make(path: Path) -> None:
    """Write a new secret atomically, unless another process was faster."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        draft.unlink()  # left by a killed process with the same id
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)  # unlike a rename, this replaces nothing
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
