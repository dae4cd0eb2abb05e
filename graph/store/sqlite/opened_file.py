"""Checks the opened file without SQLite: whether it is still at its path and seems complete, and its disk.

The file is opened once and kept open. When a process closes any descriptor of a file, POSIX drops all locks of the
process on it, and SQLite uses such locks. So this descriptor is closed after SQLite's own, and all databases of one
process on the same file share it.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import BinaryIO, ClassVar

HEADER_BYTES = 100  # https://www.sqlite.org/fileformat.html, section 1.3
MAGIC = b"SQLite format 3\0"
SLACK_BYTES = 65_536  # SQLite's checkpoint tolerates as much
LEAST_FREE_BYTES = 2**20  # of the disk; a write of a few events takes some 100 kB
BESIDE = ("-wal", "-shm")  # exist while a connection is open; without them, the latest writes are lost

Identity = tuple[int, int]  # device and inode


@dataclass(slots=True)
class _SharedFile:
    """An open file, and the number of its users."""

    file: BinaryIO
    users: int = 0


class OpenedFile:
    """A file of SQLite in WAL mode, to which a connection is open."""

    _shared_files: ClassVar[dict[Identity, _SharedFile]] = {}
    _lock: ClassVar[Lock] = Lock()

    def __init__(self, path: Path) -> None:
        """Remember which file is at the path.

        Raises:
            OSError: It cannot be read.
        """
        self.path = path
        with self._lock:
            self._identity = _identity(path)
            if self._identity not in self._shared_files:
                self._shared_files[self._identity] = _SharedFile(path.open("rb", buffering=0))
            self._shared = self._shared_files[self._identity]
            self._shared.users += 1
        self._files = {path: self._identity}
        for suffix in BESIDE:
            beside = Path(f"{path}{suffix}")
            if beside.exists():
                self._files[beside] = _identity(beside)

    def moved(self) -> str | None:
        """What says that the file is no longer at its path; None while it is. What is written then is lost."""
        for path, identity in self._files.items():
            try:
                if _identity(path) != identity:
                    return f"{path} is not the file that was opened"
            except OSError as error:
                return f"{path} cannot be found: {error.strerror}"
        return None

    def fault(self) -> str | None:
        """The fault of the file or its disk, for the operator; None if it has none."""
        if moved := self.moved():
            return moved
        try:
            disk = os.statvfs(self.path)
            free = disk.f_bavail * disk.f_frsize
            if free < LEAST_FREE_BYTES:
                return f"the disk of {self.path} is full: it has {free:,} free bytes"
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
        is_counted = header[24:28] == header[92:96]  # false if the last writer does not keep the count
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
        """A value that changes when the file is written, by a checkpoint or by something other than SQLite."""
        found = os.fstat(self._shared.file.fileno())
        return found.st_size, found.st_mtime_ns

    def is_empty(self) -> bool:
        """Whether it has lost all its bytes."""
        return os.fstat(self._shared.file.fileno()).st_size == 0

    def close(self) -> None:
        """Close it, after all connections of this database are closed."""
        with self._lock:
            self._shared.users -= 1
            if not self._shared.users:
                self._shared_files.pop(self._identity).file.close()


def _identity(path: Path) -> Identity:
    found = path.stat()
    return found.st_dev, found.st_ino
