"""The file that SQLite has opened, looked at from outside: is it still at its path, and does it seem whole?

It is opened once and held open. POSIX drops all locks that a process has on a file when the process closes any
descriptor of it, and SQLite's locks are of that kind. So the descriptor is closed after SQLite's own, and the tables
of one process that are in the same file share it.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import BinaryIO, ClassVar

HEADER_BYTES = 100  # https://www.sqlite.org/fileformat.html, section 1.3
MAGIC = b"SQLite format 3\0"
SLACK_BYTES = 65_536  # that SQLite's checkpoint grants too
BESIDE = ("-wal", "-shm")  # for as long as a connection is open; without them, what was written last is lost

Identity = tuple[int, int]  # device and inode


@dataclass(slots=True)
class _Held:
    """An open file, and how many share it."""

    file: BinaryIO
    users: int = 0


class OpenedFile:
    """A file of SQLite in WAL mode, to which a connection is open."""

    _held: ClassVar[dict[Identity, _Held]] = {}
    _lock: ClassVar[Lock] = Lock()

    def __init__(self, path: Path) -> None:
        """Remember which file is at the path.

        Raises:
            OSError: It cannot be read.
        """
        self.path = path
        with self._lock:
            self._identity = _identity(path)
            if self._identity not in self._held:
                self._held[self._identity] = _Held(path.open("rb", buffering=0))
            self._shared = self._held[self._identity]
            self._shared.users += 1
        self._files = {path: self._identity}
        for suffix in BESIDE:
            beside = Path(f"{path}{suffix}")
            if beside.exists():
                self._files[beside] = _identity(beside)

    def fault(self) -> str | None:
        """What is wrong with it, for the operator."""
        for path, identity in self._files.items():
            try:
                if _identity(path) != identity:
                    return f"{path} is not the file that was opened"
            except OSError as error:
                return f"{path} cannot be found: {error.strerror}"
        try:
            return self._fault_of_header()
        except OSError as error:
            return f"{self.path} cannot be read: {error.strerror}"

    def _fault_of_header(self) -> str | None:
        with self._lock:
            self._shared.file.seek(0)
            header = self._shared.file.read(HEADER_BYTES)
        if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
            return f"{self.path} has no header of SQLite"
        page_bytes = int.from_bytes(header[16:18], "big")
        pages = int.from_bytes(header[28:32], "big")
        is_counted = header[24:28] == header[92:96]  # else a writer that keeps no count has written last
        whole = pages * (65_536 if page_bytes == 1 else page_bytes)
        size = os.fstat(self._shared.file.fileno()).st_size
        # A checkpoint writes the header first. Until it ends, the pages that the file lacks are in the log.
        if is_counted and size + self._log_bytes() + SLACK_BYTES < whole:
            return f"{self.path} has {size:,} bytes of {whole:,}"
        return None

    def _log_bytes(self) -> int:
        log = Path(f"{self.path}-wal")
        return log.stat().st_size if log in self._files else 0

    def state(self) -> object:
        """Another value once the file has been written, be it by a checkpoint or by something that is not SQLite."""
        found = os.fstat(self._shared.file.fileno())
        return found.st_size, found.st_mtime_ns

    def close(self) -> None:
        """Let go of it, after all connections of this table are closed."""
        with self._lock:
            self._shared.users -= 1
            if not self._shared.users:
                self._held.pop(self._identity).file.close()


def _identity(path: Path) -> Identity:
    found = path.stat()
    return found.st_dev, found.st_ino
