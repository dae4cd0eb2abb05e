"""What sortable items have beside what is documented, so that lists of files filter on the index alone."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph.domains.data_files.model import LONGEST_WORD
from graph.store.entity import Item

_ORDINAL = re.compile(r"#\d{4}$")  # of an item whose identifier is repeated

MissingPackets = tuple[str | None, int | None]
"""The type of some data, and the number of packets that are missing in them, if they were counted."""

RELATIONS = ("earlier-date", "earlier-date-of-type", "most-missing", "most-missing-of-type")


def kind_of(identifier: str) -> Item:
    """What the data of an item are, by its identifier, such as `L0#APID11`."""
    level, _, data_type = _ORDINAL.sub("", identifier).partition("#")
    return {"data-level": level[:LONGEST_WORD], **({"data-type": data_type[:LONGEST_WORD]} if data_type else {})}


def kind_by_file(file: Mapping[str, Any]) -> Item:
    """What the data of all items of a file are."""
    told = {"data-product": file.get("product"), "data-version": file.get("algorithm-version")}
    return {name: value for name, value in told.items() if value is not None}


def related(parts: Sequence[Item], counts: Iterable[MissingPackets]) -> list[Item]:
    """What each sortable item of a file tells of the others.

    Args:
        parts: all of them, in order of their days.
        counts: the missing packets of all data of the file.
    """
    missing = _most_missing(counts)
    earlier: Any = None
    earlier_of_type: dict[str | None, Any] = {}
    relations = []
    for part in parts:
        data_type = part.get("data-type")
        told = (earlier, earlier_of_type.get(data_type), max(missing.values(), default=None), missing.get(data_type))
        relations.append({name: value for name, value in zip(RELATIONS, told, strict=True) if value is not None})
        earlier = earlier_of_type[data_type] = part["applicable-date"]
    return relations


def _most_missing(counts: Iterable[MissingPackets]) -> Mapping[str | None, int]:
    """The most missing packets of the data of each type. A type whose packets were not counted has none."""
    most: dict[str | None, int] = {}
    for data_type, count in counts:
        if count is not None:
            most[data_type] = max(count, most.get(data_type, 0))
    return most
