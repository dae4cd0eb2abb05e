"""Versions of files, named as provenance names them: `Example_file.nc@3` is the third revision of a file."""

from typing import NamedTuple, Self

from graph.store.entity import Item


class Version(NamedTuple):
    """A revision of a file. An edge is bound to it, never to the latest one."""

    name: str
    revision: int

    @classmethod
    def of_item(cls, revision: Item) -> Self:
        """The version that the item of a file or of a revision is."""
        return cls(revision["file-name"], revision["revision"])

    @property
    def reference(self) -> str:
        """The version as text."""
        return f"{self.name}@{self.revision}"

    @classmethod
    def of(cls, reference: str) -> Self | None:
        """The version that a text names; None if it names none."""
        name, _, number = reference.rpartition("@")
        if not name or not number.isdecimal() or not number.isascii() or len(number) > 6 or number.startswith("0"):
            return None
        return cls(name, int(number))
